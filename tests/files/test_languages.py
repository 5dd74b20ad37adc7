"""Languages of texts, recognized by their function words and scripts."""

import unicodedata

import numpy as np
import pytest

from consilience.files.languages import WORD, detect_languages, fold_case, list_languages, list_stop_words
from consilience.files.stop_words import FUNCTION_WORDS

SENTENCES = {
    "English": "Our room was small, but the view over the harbour was wonderful.",
    "German": "Unser Zimmer war klein, aber der Blick über den Hafen war wunderbar.",
    "French": "Notre chambre d'hôtel était petite, mais la vue sur le port était magnifique.",
    "Spanish": "Nuestra habitación era pequeña, pero la vista sobre el puerto era maravillosa.",
    "Portuguese": "O nosso quarto era pequeno, mas a vista sobre o porto não era nada má.",
    "Italian": "La nostra camera d'albergo era piccola, ma la vista sul porto era meravigliosa.",
    "Dutch": "Onze kamer was klein, maar het uitzicht over de haven was prachtig.",
    "Polish": "Nasz pokój był mały, ale widok na port był wspaniały, więc wrócimy tam.",
    "Russian": "Наш номер был маленьким, но вид на порт был прекрасным.",
    "Ukrainian": "Наш номер був маленький, але вид на порт був чудовий.",
    "Turkish": "Odamız çok küçüktü ama limana bakan manzara için yine de değer.",
    "Swedish": "Vårt rum var litet, men utsikten över hamnen var underbar och jag är nöjd.",
    "Danish": "Vores værelse var lille, men udsigten over havnen blev bare bedre af lyset, og noget mere.",
    "Norwegian": "Rommet vårt var lite, men utsikten over havnen ble bare bedre av lyset, og noe mer.",
    "Finnish": "Huone oli pieni, mutta näköala oli niin hieno, että me olemme iloisia.",
    "Czech": "Náš pokoj byl malý, ale výhled na přístav byl nádherný, takže jsme spokojeni.",
    "Romanian": "Camera noastră era mică, dar vederea spre port era minunată.",
    "Hungarian": "A szobánk kicsi volt, de a kilátás csodálatos, és ez nagyon jó.",
    "Greek": "Το δωμάτιό μας ήταν μικρό, αλλά η θέα στο λιμάνι ήταν υπέροχη.",
    "Indonesian": "Kamar kami kecil, tetapi pemandangan ke pelabuhan sangat indah dan tidak mahal.",
    "Vietnamese": "Phòng của chúng tôi nhỏ nhưng cảnh nhìn ra cảng rất đẹp.",
    "Arabic": "كانت غرفتنا في الفندق صغيرة لكن المنظر على الميناء كان رائعا.",
    "Persian": "اتاق ما در هتل کوچک بود اما منظره آن به بندر بسیار زیبا بود.",
    "Hindi": "होटल का हमारा कमरा छोटा था लेकिन बंदरगाह का दृश्य बहुत सुंदर था।",
    "Chinese": "我们的酒店房间很小，但港口的景色很美。",
    "Japanese": "ホテルの部屋は小さかったが、港の眺めは素晴らしかった。",
    "Korean": "호텔 방은 작았지만 항구 전망은 훌륭했습니다.",
}
CLOSE = [("Spanish", "Portuguese"), ("Danish", "Norwegian"), ("Russian", "Ukrainian"), ("Arabic", "Persian")]


def test_sentences_are_in_their_languages_however_they_are_written():
    for change in (str, str.upper, str.title, lambda text: unicodedata.normalize("NFD", text).replace("'", "’")):
        assert detect_languages(map(change, SENTENCES.values())).tolist() == list(SENTENCES)


def test_names_codes_and_mixtures_have_no_language():
    texts = ["iPhone 15 Pro Max 256GB", "SKU-4711-B, A4, 80 g", "N/A", "x y z a b c", "USB-C to HDMI 4K", "中文"]
    texts += ["M8 x 20 DIN 933", "Château Margaux 2015 Premier Grand Cru", "Nokia 3310 Поддержка USB"]
    texts += ["TP53 EGFR MISO BRCA1", "colour: red; size: XL; material: cotton", "In vino veritas", "de la Cruz"]
    texts += ["La Casa de Papel", "Ludwig van Beethoven", "Maria da Silva e Souza"]
    texts += ["The meeting ist morgen um 10 im Büro with the team and der Chef"]
    texts += ["Je suis in the kitchen avec my friends et the cat"]
    assert dict(zip(texts, detect_languages([*texts, *SENTENCES.values()]), strict=False)) == dict.fromkeys(texts, "")


def test_missing_texts_have_no_language():
    assert detect_languages([None, float("nan"), " ", "-"]).tolist() == [None, None, None, ""]
    assert detect_languages([]).tolist() == []


def test_few_words_tell_a_language_that_is_there():
    short = "Gar nicht schlecht, und"
    assert detect_languages([short]).tolist() == [""]
    assert detect_languages([short, *[SENTENCES["German"]] * 5]).tolist() == ["German"] * 6
    assert detect_languages([short, *[SENTENCES["French"]] * 5]).tolist() == ["", *["French"] * 5]


@pytest.mark.parametrize("pair", CLOSE, ids="-".join)
def test_words_of_two_related_languages_tell_neither(pair):
    first, second = (FUNCTION_WORDS[name] for name in pair)
    shared = " ".join(sorted(first & second)[:8])
    assert len(shared.split()) >= 3
    both = [SENTENCES[name] for name in pair for _ in range(5)]
    assert detect_languages([shared, *both]).tolist() == ["", *[name for name in pair for _ in range(5)]]


def test_negligible_languages_are_not_listed():
    languages = np.array(["English"] * 200 + ["French"] * 20 + ["German"] * 5 + ["", None] * 30, dtype=object)
    assert list_languages(languages) == {"English": 200, "French": 20}


def test_function_words_are_found_as_they_are_listed():
    for words in FUNCTION_WORDS.values():
        assert 60 <= len(words) <= 220
        assert [word for word in words if fold_case(word) != word or WORD.findall(word) != [word]] == []


def test_stop_words_are_those_of_all_languages():
    assert {"the", "et", "und"} <= list_stop_words(["English", "French", "German", "Chinese"])
    assert not {"the", "und"} & list_stop_words(["French"])
