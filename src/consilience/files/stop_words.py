"""Function words of the most used written languages: articles, prepositions, pronouns, conjunctions, auxiliary verbs.

They tell the language of a text and say nothing about its content. Words are in lower case and in the composed form of
Unicode (NFC). What stands before or after an apostrophe is a word of its own: French "l'eau" begins with "l". Some
words are there a second time without their accents, as people type them.
"""

from __future__ import annotations

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": """
            a an the and or but nor so yet if then than that this these those there here which who whom whose what
            when where why how while because although though unless until since as of at by for with without from to
            into onto upon in on out off over under about above below between among through during before after
            against toward towards i me my mine myself you your yours yourself he him his himself she her hers herself
            it its itself we us our ours ourselves they them their theirs themselves is am are was were be been being
            has have had having do does did doing will would shall should can could may might must not no all any both
            each every few more most much many other others some such only own same too very just also even ever never
            again once t s ll ve re don doesn didn isn wasn aren weren won couldn wouldn shouldn
        """,
        "German": """
            der die das den dem des ein eine einer eines einem einen kein keine keiner keinen keinem und oder aber
            denn sondern doch wenn als wie ob dass daß weil damit obwohl während bevor nachdem bis seit in im ins an
            am ans auf aus bei beim mit nach von vom vor zu zum zur für fuer durch gegen ohne um über ueber unter
            zwischen neben hinter wegen trotz ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen
            mein meine meinem meinen meiner dein deine sein seine seinem seinen seiner seines ihre ihrem ihren ihrer
            ihres unser unsere unserem unseren unserer euer eure dieser diese dieses diesem diesen jener jene jedes
            jeder jede jedem jeden alle allem allen aller alles man wer was wen wem wo wann warum welche welcher
            welches ist sind war waren bin bist seid sei wäre wären gewesen hat haben habe hast hatte hatten hätte
            hätten wird werden wurde wurden worden würde würden kann können konnte konnten könnte muss müssen musste
            soll sollen sollte will wollen darf dürfen mag möchte nicht nichts nur auch noch schon sehr mehr so da
            dann dort hier nun jetzt immer wieder etwas einige viele beide dabei dazu davon darauf daran dafür dadurch
            darin deren dessen zwar jedoch sowie
        """,
        "French": """
            le la les l un une des du de d au aux et ou mais donc or ni car que qu qui quoi dont où si comme quand
            lorsque lorsqu puisque parce pour par avec sans sous sur dans en vers chez entre contre depuis pendant
            avant après apres jusque jusqu dès à afin selon malgré je j tu il elle on nous vous ils elles me m te t se
            s lui leur leurs moi toi soi eux y mon ma mes ton ta tes son sa ses notre nos votre vos ce c cet cette ces
            ceci cela ça ceux celle celui celles aucun aucune chaque plusieurs quelque quelques tout toute tous toutes
            autre autres même meme mêmes tel telle tels telles quel quelle quels quelles est suis es sommes êtes sont
            été ete étais était etait étaient sera seront serait soit soient être etre étant ai as a avons avez ont
            avait avaient aura auront aurait ait avoir ayant eu fait fut furent ne n pas plus moins très tres trop peu
            aussi encore déjà deja bien toujours jamais rien ici là alors ainsi puis non oui peut peuvent pouvait doit
            doivent faut lequel laquelle lesquels ci
        """,
        "Spanish": """
            el la los las lo un una unos unas de del al a y e o u ni pero sino que quien quienes cual cuales cuyo cuya
            donde cuando como cuanto si porque pues aunque mientras para por con sin sobre bajo entre desde hasta
            hacia contra según segun durante ante tras en yo tú tu él ella ello nosotros vosotros ellos ellas usted
            ustedes me te se nos os le les mi mis tus su sus nuestro nuestra nuestros nuestras vuestro vuestra este
            esta esto estos estas ese esa eso esos esas aquel aquella aquellos aquellas otro otra otros otras mismo
            misma mismos mismas cada todo toda todos todas algún alguna algunos algunas alguien algo ningún ninguna
            nadie nada cualquier es soy eres somos son era eran fue fueron ser sido siendo sea sean será serán sería
            está están estaba estaban estar estoy he ha has hemos han había habían haber hay haya hubo tiene tienen
            tenía puede pueden podía debe deben no sí más mas muy menos ya también tambien tampoco así aún aun todavía
            siempre nunca después antes luego entonces tan tanto qué quién cómo cuándo dónde
        """,
        "Portuguese": """
            o a os as um uma uns umas de do da dos das em no na nos nas num numa ao à aos às pelo pela pelos pelas e
            ou mas porém nem que quem qual quais cujo cuja onde quando como quanto se porque pois embora enquanto para
            pra por com sem sobre sob entre desde até contra segundo durante após perante eu tu ele ela nós vós eles
            elas você vocês voce me te lhe lhes vos meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos
            nossas dele dela deles delas este esta isto estes estas esse essa isso esses essas aquele aquela aquilo
            aqueles aquelas neste nesta nesse nessa deste desta desse dessa outro outra outros outras mesmo mesma
            mesmos mesmas cada todo toda todos todas tudo algum alguma alguns algumas alguém algo nenhum nenhuma
            ninguém nada qualquer é sou és somos são sao era eram foi foram ser sido sendo seja sejam será serão seria
            está estão estava estavam estar estou há ter tem têm tinha tinham tenho havia pode podem podia deve devem
            não nao sim mais muito muita muitos muitas menos já ja também tambem assim ainda sempre nunca depois antes
            então tão só lá aqui ali
        """,
        "Italian": """
            il lo la l i gli le un uno una di del dello della dell dei degli delle d a al allo alla all ai agli alle
            da dal dallo dalla dall dai dagli dalle in nel nello nella nell nei negli nelle con col su sul sullo sulla
            sull sui sugli sulle per tra fra e ed o od ma però pero che chi cui quale quali dove quando come quanto se
            perché perche poiché mentre anche senza sotto sopra verso contro durante dopo prima fino io tu lui lei noi
            voi loro egli ella essi mi ti si ci vi ne me te sé mio mia miei mie tuo tua suo sua suoi sue nostro nostra
            nostri nostre vostro vostra questo questa questi queste quello quella quelli quelle quel quei quegli altro
            altra altri altre stesso stessa stessi ogni tutto tutta tutti tutte alcuni alcune qualche nessuno nessuna
            niente nulla è sono sei siamo siete era erano fu furono essere sia siano sarà sarebbe ho hai ha abbiamo
            avete hanno aveva avevano avere avuto abbia può possono poteva deve devono non più piu meno molto molti
            troppo poco già ancora sempre mai così cosi qui lì là poi allora quindi dunque invece c
        """,
        "Dutch": """
            de het een n der den des en of maar want dus dat die dit deze wie wat welke waar wanneer waarom hoe als
            dan toen omdat doordat zodat hoewel terwijl voordat nadat tot sinds in op aan bij met naar van voor uit
            over onder door tegen zonder om tussen naast achter boven binnen buiten tijdens volgens ik jij je u hij
            zij ze wij we jullie mij me jou hem haar ons hen hun mijn jouw zijn uw onze zich zelf er hier daar ervan
            erin eraan daarvan daarom waarin waarbij waarop ieder iedere elk elke alle alles andere ander iets niets
            iemand niemand enkele sommige veel weinig meer meest zo te is ben bent was waren wordt worden werd werden
            geworden geweest heb hebt heeft hebben had hadden gehad zal zullen zou zouden kan kunt kunnen kon konden
            mag mogen moet moeten moest wil willen niet geen nooit altijd ook nog al wel toch reeds zeer heel erg nu
            eens weer echter zowel noch
        """,
        "Polish": """
            i a oraz lub albo ale lecz jednak więc wiec zatem że ze żeby aby by bo ponieważ gdyż gdy kiedy jeśli jesli
            jeżeli choć chociaż niż jak jako co kto który ktory która które którzy którego której którym których
            którymi gdzie skąd dokąd dlaczego czy w we na do z od dla po przez przed przy pod nad za o u bez między
            miedzy wśród podczas według ja ty on ona ono my wy oni one mnie mi mną ciebie cię ci tobie go jego jemu mu
            nim jej ją nią nas nam nami was wam ich im nimi się sie siebie sobie mój moja moje mojego mojej twój twoja
            twoje swój swoja swoje swojego swojej swoim swoich nasz nasza nasze ten ta to te tego tej temu tym tych
            tymi tę tą taki taka takie tamten inny inna inne innych każdy każda każde wszystko wszystkie wszystkich
            wszyscy ktoś coś nic nikt jest są sa jestem jesteś jesteśmy był była było były być byc będzie bedzie będą
            został została zostało zostały ma mają może moze mogą można trzeba nie tak tylko także takze też tez
            również rowniez jeszcze już juz bardzo bardziej więcej mniej tu tutaj tam teraz wtedy zawsze nigdy dość
            niech
        """,
        "Russian": """
            и а но или да либо что чтобы как когда если хотя потому поэтому так также тоже же ли бы б ни не нет в во
            на с со к ко от до из изо у о об обо по за под над при про для без через между перед после около среди
            против вместо кроме я ты он она оно мы вы они меня мне мной тебя тебе его него ему нему им ним её ее неё
            нее ей ней нас нам нами вас вам вами их них ими ними себя себе собой мой моя моё мое мои моего моей моих
            твой твоя свой своя своё свое свои своего своей своих своим наш наша наше наши нашего нашей ваш ваша ваше
            ваши этот эта это эти этого этой этому этим этом этих тот та то те того той тому тем том тех такой такая
            такое такие который которая которое которые которого которой которых которым кто кого кому чем чего чему
            где куда откуда почему зачем весь вся всё все всего всей всех всем каждый каждая другой другая другие
            других сам сама сами самый быть был была было были будет будут есть может можно могут должен нужно надо
            уже ещё еще только очень более менее лишь даже вот здесь там тут тогда теперь сейчас всегда никогда ничего
            никто
        """,
        "Ukrainian": """
            і й та а але або чи що щоб як коли якщо хоча бо тому тож так також теж же ж би б ні не немає в у на з зі
            із до від од для без через між перед після біля серед проти замість крім під над при про по за о об я ти
            він вона воно ми ви вони мене мені мною тебе тобі його нього йому ньому їй ній її неї нас нам нами вас вам
            вами їх них їм ними себе собі собою мій моя моє мої мого моєї моїх твій твоя свій своя своє свої свого
            своєї своїх наш наша наше наші ваш ваша ваше ваші їхній цей ця це ці цього цієї цьому цим цих той те ті
            того тієї тим тих такий така таке такі який яка яке які якого якої яких яким якій хто кого кому чим чого
            де куди звідки чому весь вся все всі всього всіх усі усе кожен кожна інший інша інші інших сам сама самі
            бути був була було були буде будуть є може можна можуть треба потрібно вже ще лише тільки дуже більш менш
            навіть ось тут там тоді тепер зараз завжди ніколи нічого ніхто
        """,
        "Turkish": """
            ve veya ya ile ama fakat ancak çünkü cunku eğer eger ki de da bile dahi hem ne için icin gibi kadar göre
            gore üzere rağmen sonra önce once karşı doğru beri dolayı bu şu o bunu bunun buna bunda bundan şunu onu
            onun ona onda ondan bunlar onlar bunların onların onları onlara ben sen biz siz beni seni bizi sizi bana
            sana bize size benim senin bizim sizin kendi kendisi kendini kim kime neden niçin nasıl nasil nerede hangi
            kaç bir biri her hiç hep bazı tüm bütün butun başka diğer diger çok cok daha en az şey mi mı mu mü değil
            degil var yok idi ise olan olarak olduğu oldugu olduğunu olmak oldu olur olsa olmayan olduğundan ol etmek
            eden ederek edilen etti edildi yapılan artık hâlâ hala sadece yalnız şimdi simdi burada orada böyle boyle
            şöyle öyle içinde arasında üzerinde tarafından ayrıca yine yani belki
        """,
        "Swedish": """
            och eller men utan för att som om när då där här var vad vem vilken vilket vilka hur varför än så därför
            eftersom medan innan efter en ett den det de dem denna detta dessa i på av till från med mot hos vid under
            över mellan genom bakom framför kring enligt inom utom ur åt jag du han hon vi ni mig dig honom henne oss
            er sig min mitt mina din ditt dina sin sitt sina hans hennes dess vår vårt våra deras ert era man sådan
            sådana samma annan annat andra någon något några ingen inget inga alla allt varje båda är vara varit blir
            bli blev blivit har hade haft ha kan kunde ska skall skulle vill ville måste får fick inte ej också bara
            även mycket mer mest mindre redan ännu alltid aldrig igen nu sedan hit dit upp ner ut själv både
        """,
        "Danish": """
            og eller men for at som om når da der her hvor hvad hvem hvilken hvilket hvilke hvordan hvorfor end så
            fordi mens før efter en et den det de dem denne dette disse i på af til fra med mod hos ved under over
            mellem gennem bag foran omkring ifølge uden inden ud jeg du han hun vi mig dig ham hende os jer sig min
            mit mine din dit dine sin sit sine hans hendes dens dets vores deres man sådan sådanne samme anden andet
            andre nogen noget nogle ingen intet alle alt hver begge er være været var bliver blive blev blevet har
            havde haft have kan kunne skal skulle vil ville må måtte får fik ikke også kun bare meget mere mest mindre
            allerede endnu altid aldrig igen nu siden op ned selv både hvis
        """,
        "Norwegian": """
            og eller men for at å som om når da der her hvor hva hvem hvilken hvilket hvilke hvordan hvorfor enn så
            fordi mens før etter en ei et den det de dem denne dette disse i på av til fra med mot hos ved under over
            mellom gjennom bak foran omkring ifølge uten innen ut jeg du han hun vi dere meg deg ham henne oss seg min
            mitt mi mine din ditt dine sin sitt sine hans hennes dens dets vår vårt våre deres man slik slike samme
            annen annet andre noen noe ingen intet alle alt hver begge er være vært var blir bli ble blitt har hadde
            hatt ha kan kunne skal skulle vil ville må måtte får fikk ikke også kun bare veldig mye mer mest mindre
            allerede ennå alltid aldri igjen nå siden opp ned selv både hvis ikkje eg ein eit
        """,
        "Finnish": """
            ja tai sekä eli mutta vaan vaikka että jotta koska kun jos kuin niin myös siis joten ei en et emme ette
            eivät älä se ne tämä nämä tuo nuo sen sitä siinä siitä siihen sillä sille niitä niiden niissä niistä
            niihin tämän tätä tässä tästä tähän tällä näiden näitä näissä minä sinä hän me te he minun sinun hänen
            meidän teidän heidän minua sinua häntä meitä teitä heitä minulle sinulle hänelle minulla sinulla hänellä
            itse oma joka jotka jonka jota joita jossa josta johon joiden joissa mikä mitä mistä missä mihin minkä
            kuka ketä kenen kaikki kaikkien muu muut muita muiden jokin jotain joku jotkut molemmat on ovat oli olivat
            ole olen olet olemme olette olla ollut olleet olisi olisivat oltu voi voivat voidaan pitää täytyy saa
            hyvin enemmän vain vielä jo nyt sitten aina koskaan täällä siellä silloin ennen jälkeen kanssa ilman
            mukaan välillä aikana kautta vuoksi alla yli noin kuitenkin
        """,
        "Czech": """
            a i nebo ale však avšak tedy že ze aby protože neboť když kdyz pokud jestliže ačkoli než jak jako co kdo
            který ktery která které kteří kterého kterou kterých kterým kde kam odkud proč zda v ve na do z od pro po
            přes před pred při pri pod nad za o u bez mezi během podle kolem k ke ku s se si já ty on ona ono my vy
            oni mě mne mi mnou tebe tě ti tobě ho jeho jemu mu něm ní jí ji její jejich je jim jimi nás nám námi vás
            vám vámi nich nim můj moje má tvůj tvoje svůj svoje svého své svou svých náš naše váš vaše ten ta to té
            toho tomu tom tím těch tento tato toto tyto této tohoto takový jiný jiná jiné každý každá všechno všechny
            vše všech všichni někdo něco nic nikdo jsem jsi jsme jste jsou byl byla bylo byli byly být byt bude budou
            by bych bychom mají může muze mohou musí lze ne ano tak také take taky též jen pouze ještě jeste již už
            velmi více méně tu tady tam teď pak vždy nikdy
        """,
        "Romanian": """
            și şi si sau ori dar însă iar deci că ca să sa dacă daca când cand unde cum cât deoarece fiindcă pentru
            deși deşi decât în in la de din pe cu fără fara prin spre către catre până pana între intre sub peste după
            dupa înainte contra asupra despre dintre lângă într intr dintr printr a al ai ale un o unei unui unor
            niște eu tu el ea noi voi ei ele mă te îl il ne vă îi ii le îmi îți îşi își mi ți lui lor meu mea mei mele
            tău ta său săi sale nostru noastră noastre vostru voastră acest această aceasta acesta acești aceste
            acestea acestui acestei acel acea acei acele cel cea cei cele care cărui cărei cine ce alt altă alte alți
            altul fiecare toți toate tot unii unele cineva ceva nimeni nimic orice este e sunt ești suntem era erau fi
            fost fiind fie va vor am are au avea avut avem aveți ar poate pot trebuie nu da mai foarte prea doar numai
            chiar încă inca deja mereu niciodată aici acolo atunci acum astfel așa aşa s
        """,
        "Hungarian": """
            a az egy és es vagy de hanem azonban tehát ezért azért hogy mert ha mivel bár amíg amikor mikor mint míg
            is se sem nem ne ez ezt azt ennek annak ebben abban ebből abból erre arra ezzel azzal ezek azok ezeket
            azokat ezen azon itt ott én te ő mi ti ők engem téged őt minket titeket őket nekem neked neki nekünk
            nektek nekik velem vele velük róla rá benne belőle tőle hozzá saját maga magát ami amit amely amelyet
            amelyek aki akit akik ahol ahogy amelyben amelynek aminek ki kit kinek mit milyen melyik hol hova honnan
            miért hogyan mennyi minden mindenki mindig más másik többi valaki valami senki semmi néhány sok több
            legtöbb kevés van vannak volt voltak volna vagyok vagyunk lesz lesznek lenne lett lehet kell kellett csak
            már még nagyon igen így úgy most majd akkor után előtt alatt között felett mellett nélkül szerint által
            miatt felé keresztül során számára meg el fel be le össze pedig illetve valamint
        """,
        "Greek": """
            ο η το οι τα του της των τον την τους τις τη ένας μια μία ένα ενός μιας και κι ή είτε αλλά όμως ωστόσο ότι
            πως που να θα ας αν εάν όταν ενώ επειδή γιατί διότι ώστε όπως σαν καθώς αφού πριν μετά μέχρι έως σε στο
            στη στην στον στους στις στα από απ για με χωρίς δίχως προς κατά μεταξύ ανάμεσα υπό υπέρ παρά αντί περί
            εγώ εσύ αυτός αυτή αυτό εμείς εσείς αυτοί αυτές αυτά αυτού αυτής αυτών αυτόν αυτήν μας σας μου σου μένα
            εσένα εκείνος εκείνη εκείνο τούτο οποίος οποία οποίο οποίου οποίας οποίων οποίοι οποίες ποιος ποια ποιο τι
            πού πότε πώς όσο όσα όσοι κάθε όλα όλοι όλες όλο όλη άλλος άλλη άλλο άλλα άλλοι άλλες κάποιος κάποια
            κάποιο κάτι τίποτα κανείς κανένας καμία είναι ήταν είμαι είσαι είμαστε έχει έχουν έχω έχουμε είχε είχαν
            μπορεί μπορούν πρέπει δεν μην μη όχι ναι πολύ πιο λίγο μόνο ακόμα ακόμη ήδη πάντα ποτέ εδώ εκεί τώρα τότε
            έτσι επίσης
        """,
        "Indonesian": """
            yang dan atau tetapi tapi namun melainkan bahwa karena sebab jika jikalau kalau apabila bila ketika saat
            sejak hingga sampai sebelum sesudah setelah selama sementara meskipun walaupun agar supaya sehingga maka
            di ke dari pada kepada daripada dengan tanpa untuk bagi oleh dalam antara terhadap tentang mengenai
            seperti sebagai secara menurut melalui saya aku kamu anda dia ia beliau kami kita kalian mereka nya ku mu
            ini itu tersebut sini situ sana apa siapa mana kapan mengapa kenapa bagaimana berapa para sang si setiap
            tiap semua seluruh segala beberapa banyak sedikit lain lainnya sendiri sama adalah ialah merupakan ada
            tidak tak bukan belum jangan sudah telah sedang akan masih pernah dapat bisa harus boleh perlu ingin juga
            pun lah hanya saja lebih paling sangat sekali lagi selalu jadi menjadi begitu demikian
        """,
        "Vietnamese": """
            và hoặc hay nhưng mà thì là của cho với bởi vì do nên nếu khi lúc trước sau trong ngoài trên dưới giữa từ
            đến tới tại ở về theo qua cùng như bằng để rằng tuy dù song còn cũng đã đang sẽ vẫn chưa không chẳng phải
            được bị có các những một mỗi mọi vài nhiều ít rất quá lắm hơn nhất này đó kia ấy đây đấy nào gì ai sao đâu
            tôi tao mày anh chị em nó hắn chúng ta mình họ bạn cái rồi chỉ lại nữa vào ra lên xuống thế vậy nhé ạ
        """,
        "Arabic": """
            في من إلى الى على عن مع حتى منذ بين تحت فوق أمام وراء خلف خلال بعد قبل عند لدى حول ضد دون بدون غير سوى و
            أو او أم ثم بل لكن لكنه ولكن إن ان أن أنه انه إنه أنها إنها وأن بأن لأن لان إذا اذا لو لولا كي لكي كما مثل
            حيث عندما بينما كلما لما ما ماذا متى أين كيف لماذا هل كم أي هو هي هم هن أنا نحن أنت أنتم هما هذا هذه هؤلاء
            ذلك تلك أولئك هنا هناك الذي التي الذين اللذين اللواتي اللاتي له لها لهم لنا لي لك به بها بهم فيه فيها فيهم
            منه منها منهم عليه عليها عليهم عنه عنها إليه إليها معه معها كان كانت كانوا يكون تكون ليس ليست لا لم لن
            ليسوا قد لقد سوف كل كلها جميع بعض أحد كذلك أيضا أيضاً ايضا فقط جدا وهو وهي وفي ومن وقد ولا وما كانا والتي
            والذي وهذا إلا الا نعم
        """,
        "Persian": """
            و در به از که این را با است برای آن یک خود تا بر هم نیز ها های ای می نمی شده شد شود می‌شود می‌شد شدن شدند
            باید بود بودند بوده باشد باشند نیست هست هستند هستیم کرد کرده کردند کند کنند می‌کند می‌کنند کردن دارد دارند
            داشت داشته دارم داریم خواهد خواهند خواهم اما ولی یا اگر چون زیرا پس اینکه آنکه چه چرا چگونه کجا کی کدام
            چند هر همه هیچ دیگر دیگری برخی بعضی بسیار بسیاری خیلی بیش بیشتر کمتر همین همان همچنین چنین چنان آنها آن‌ها
            آنان اینها ما شما من تو او وی ایشان بین میان روی زیر پیش بعد قبل درباره توسط طی ضمن بدون جز مانند مثل حتی
            تنها فقط هنوز همیشه هرگز اینجا آنجا اکنون وقتی هنگامی نه بله آیا
        """,
        "Hindi": """
            के का की में है हैं को से पर ने और या एवं तथा लेकिन परंतु किंतु मगर कि जो जिस जिसे जिसके जिसकी जिसमें
            जिससे जिन जिनके यदि अगर तो जब तब तक जैसे वैसे क्योंकि इसलिए ताकि भी ही यह ये वह वे इस इसे इसके इसकी इसका
            इसमें इससे इन इनके इन्हें उस उसे उसके उसकी उसका उसमें उससे उन उनके उनकी उनका उन्हें उन्होंने मैं मैंने हम
            हमने तुम आप मुझे मेरा मेरे मेरी हमें हमारा हमारे हमारी तुम्हारा आपका आपके आपकी अपना अपने अपनी कौन क्या कब
            कहाँ कहां क्यों कैसे कितना किस किसी कोई कुछ सब सभी हर बहुत अधिक कम था थे थी हूँ हूं हो होता होती होते होने
            होना हुआ हुई हुए रहा रही रहे गया गई गए जा जाता जाती जाते कर करके करता करती करते करने करना किया सकता सकती
            सकते चाहिए नहीं न मत साथ लिए बाद पहले द्वारा बीच ओर तरफ अब अभी यहाँ यहां वहाँ वहां फिर सिर्फ केवल वाला
            वाले वाली एक
        """,
    }.items()
}
