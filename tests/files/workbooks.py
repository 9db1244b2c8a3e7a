"""Workbooks built part by part, as no spreadsheet program would write them."""

import io
from zipfile import ZIP_DEFLATED, ZipFile

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def sheet_xml(rows: str, prolog: str = "") -> str:
    """A worksheet around ready-made ``<row>`` elements."""
    return f'{prolog}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def inline_row(number: int, *texts: str) -> str:
    """Return a row of texts in the sheet itself, without cell references."""
    cells = "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts)
    return f'<row r="{number}">{cells}</row>'


def workbook_bytes(
    *sheets: tuple[str, str],
    states: tuple[str, ...] = (),
    active: int = 0,
    strings: str = "",
    styles: str = "",
    extra: dict[str, bytes] | None = None,
) -> bytes:
    """Return a workbook of (name, worksheet XML); ``states`` and ``active`` decide what is
    shown."""
    listed, relations, parts = [], [], dict(extra or {})
    for index, (name, xml) in enumerate(sheets, 1):
        state = states[index - 1] if states else "visible"
        listed.append(f'<sheet name="{name}" sheetId="{index}" state="{state}" r:id="s{index}"/>')
        relations.append(
            f'<Relationship Id="s{index}" Type="{_RELATED}/worksheet" Target="sheet{index}.xml"/>'
        )
        parts[f"xl/sheet{index}.xml"] = xml.encode()
    for kind, xml in (("sharedStrings", strings), ("styles", styles)):
        if xml:
            relations.append(
                f'<Relationship Id="{kind}" Type="{_RELATED}/{kind}" Target="/xl/{kind}.xml"/>'
            )
            parts[f"xl/{kind}.xml"] = xml.encode()
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATED}"><bookViews>'
        f'<workbookView activeTab="{active}"/></bookViews><sheets>{"".join(listed)}</sheets>'
        "</workbook>"
    ).encode()
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{_PACKAGE}">{"".join(relations)}</Relationships>'
    ).encode()
    parts["_rels/.rels"] = (
        f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="w" '
        f'Type="{_RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ).encode()
    data = io.BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return data.getvalue()
