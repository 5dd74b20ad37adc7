"""Write small workbooks without a library: .xlsx and .ods are archives of XML files."""

import datetime as dt
import io
import zipfile
from xml.sax.saxutils import escape

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
EXCEL_EPOCH = dt.datetime(1899, 12, 30)
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="20"/></cellXfs>'
    "</styleSheet>"
)


def name_cell(row, column):
    letters = ""
    column += 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return f"{letters}{row + 1}"


def write_cell(row, column, value):
    where = f'<c r="{name_cell(row, column)}"'
    match value:
        case None:
            return ""
        case bool():
            return f'{where} t="b"><v>{int(value)}</v></c>'
        case int() | float():
            return f"{where}><v>{value!r}</v></c>"
        case dt.datetime():
            return f'{where} s="1"><v>{(value - EXCEL_EPOCH) / dt.timedelta(days=1)!r}</v></c>'
        case dt.time():
            return f'{where} s="2"><v>{(value.hour * 60 + value.minute) / 1440!r}</v></c>'
        case str() if value.startswith("#"):
            return f'{where} t="e"><v>{escape(value)}</v></c>'
        case str() if value.startswith("="):
            formula, _, result = value[1:].partition("->")
            return f"{where}><f>{escape(formula)}</f><v>{result}</v></c>"
    return f'{where} t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def make_xlsx(sheets, hidden=(), extra=None):
    """Return the bytes of a workbook from rows of values by sheet; '=1+1->2' is a formula with its saved value."""
    workbook, relations, members = "", "", {}
    for number, (name, rows) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name in hidden else ""
        workbook += f'<sheet name="{escape(name)}" sheetId="{number}"{state} r:id="rId{number}"/>'
        place = f"worksheets/sheet{number}.xml"
        relations += f'<Relationship Id="rId{number}" Type="{RELATIONS}/worksheet" Target="{place}"/>'
        cells = ""
        for r, row in enumerate(rows):
            cells += f'<row r="{r + 1}">{"".join(write_cell(r, c, value) for c, value in enumerate(row))}</row>'
        members[f"xl/{place}"] = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    relations += f'<Relationship Id="rId0" Type="{RELATIONS}/styles" Target="styles.xml"/>'
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
    overrides = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name in members)
    members = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/>{overrides}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{workbook}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>',
        "xl/styles.xml": STYLES,
        **members,
        **(extra or {}),
    }
    return make_archive(members)


def make_ods(sheets):
    """Return the bytes of an OpenDocument workbook from rows of texts and numbers by sheet."""
    tables = ""
    for name, rows in sheets.items():
        cells = "".join(f"<table:table-row>{''.join(map(_write_ods_cell, row))}</table:table-row>" for row in rows)
        tables += f'<table:table table:name="{escape(name)}">{cells}</table:table>'
    kind = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{kind}:office:1.0" xmlns:table="{kind}:table:1.0" '
        f'xmlns:text="{kind}:text:1.0"><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{kind}:manifest:1.0"/>'
    mimetype = "application/vnd.oasis.opendocument.spreadsheet"
    return make_archive({"mimetype": mimetype, "META-INF/manifest.xml": manifest, "content.xml": content})


def _write_ods_cell(value):
    match value:
        case None:
            return "<table:table-cell/>"
        case int() | float():
            return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'
    return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'


def make_archive(members):
    """Return the bytes of a compressed archive whose first member is stored, as in OpenDocument files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, (name, text) in enumerate(members.items()):
            archive.writestr(name, text, zipfile.ZIP_STORED if i == 0 else zipfile.ZIP_DEFLATED)
    return file.getvalue()
