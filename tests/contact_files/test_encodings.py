"""Text without a mark is read in the encoding in which it is words."""

import io
from functools import partial

import pytest

from app.contact_files import FileRow, open_table
from app.contact_files.encodings import TextEncoding, detect

NAMES = {
    "Polish": "Łukasz Wójcik|Małgorzata Wiśniewska|Paweł Zieliński|Gęśla Jaźń|Łódź|Świętochłowice",
    "Czech": "Jiří Dvořák|Zdeněk Kučera|Růžena Říhová|Ondřej Šťastný|Plzeň|Ústí nad Labem",
    "Hungarian": "Szűcs Jenő|Kovács Éva|Erdős Győző|Tóth Ödön|Hódmezővásárhely|Székesfehérvár",
    "Croatian": "Željko Kovačević|Đuro Šimić|Čedomir Božić|Marija Babić|Požega|Šibenik",
    "Russian": "Пётр Иванов|Екатерина Щербакова|ЮЛИЯ НОВИКОВА|Фёдор Цветков|Москва|ул. Ленина",
    "Ukrainian": "Ірина Коваленко|Євген Поліщук|Юрій Бондаренко|Київ|Харків|Запоріжжя",
    "Greek": "Γιώργος Παπαδόπουλος|Ελένη Γεωργίου|ΜΑΡΙΑ ΝΙΚΟΛΑΟΥ|Θεσσαλονίκη|Αθήνα|Πάτρα",
    "Turkish": "Ayşe Yılmaz|Çağlar Şahin|İbrahim Kılıç|Işıl Doğan|Eskişehir|İstanbul",
    "Japanese": "佐藤 太郎|鈴木 花子|サトウ タロウ|ﾔﾏﾀﾞ ﾊﾅｺ|東京都新宿区|横浜市中区",
    "Chinese": "王伟|李娜|张秀英|陈静|北京市朝阳区|上海市浦东新区",
    "Taiwanese": "陳怡君|林志明|黃淑芬|劉俊傑|台北市信義區|高雄市",
    "Korean": "김민준|이서연|박지훈|정예은|서울특별시|부산광역시",
    "German": "Jörg Müller|Renée Gößling|Günther Weiß|Käthe Krüger|Köln|Düsseldorf",
    "French": "Hélène Lefèvre|François Dupré|Zoé Benoît|Jérôme Noël|Orléans|Nîmes",
    "Spanish": "José Núñez|Íñigo Martínez|Begoña Ibáñez|María Peña|Logroño|Málaga",
    "Portuguese": "João Gonçalves|Conceição Araújo|Inês Simões|Luís Brandão|São Paulo|Maceió",
    "Italian": "Niccolò Cantù|Letizia Forlì|Noè Alò|Cefalù|Forlì|Libertà",
    "Nordic": "Søren Kjær|Åsa Öberg|Håkan Sjöström|Päivi Mäkinen|Ålesund|Jyväskylä",
    "English": "José Diaz|Zoë Smith|Renée Brown|Mary O’Neill|Ben “Bud” White|Sue – home",
}
WRITTEN = {
    "cp1250": ("Polish", "Czech", "Hungarian", "Croatian"),
    "iso8859-2": ("Polish", "Czech", "Hungarian", "Croatian"),
    "cp1251": ("Russian", "Ukrainian"),
    "koi8-r": ("Russian",),
    "cp866": ("Russian",),
    "cp1253": ("Greek",),
    "cp1254": ("Turkish",),
    "cp932": ("Japanese",),
    "gb18030": ("Chinese",),
    "big5": ("Taiwanese",),
    "cp949": ("Korean",),
    "cp1252": ("German", "French", "Spanish", "Portuguese", "Italian", "Nordic", "English"),
    "mac_roman": ("German", "French", "Spanish", "Portuguese", "Italian", "Nordic"),
    "cp850": ("German", "French", "Spanish", "Portuguese", "Nordic"),
}
guessed = partial(TextEncoding, guessed=True)


def a_list(language: str, rows: int) -> str:
    names = NAMES[language].split("|")
    lines = [f"{names[n % 6]};+1202555{n:04};p{n}@mail.example\r\n" for n in range(rows)]
    return "".join(["Name;Phone;E-mail\r\n", *lines])


@pytest.mark.parametrize("rows", [6, 300])
@pytest.mark.parametrize(
    ("language", "encoding"),
    [(language, encoding) for encoding, languages in WRITTEN.items() for language in languages],
)
def test_a_list_is_read_as_it_was_written(language: str, encoding: str, rows: int) -> None:
    text = a_list(language, rows)
    data = text.encode(encoding)
    found = detect(io.BytesIO(data), None)
    assert (data.decode(found.name), found) == (text, guessed(found.name))


def test_one_foreign_name_does_not_change_the_encoding_of_a_list() -> None:
    text = a_list("German", 30) + "Doña Núñez\r\nHalldór Þórðarson\r\nSøren Škoda\r\n"
    assert detect(io.BytesIO(text.encode("cp1252")), None) == guessed("cp1252")


def test_a_byte_outside_the_guessed_encoding_affects_only_its_row() -> None:
    data = a_list("Polish", 30).encode("cp1250") + b"\x81da;+12025550999;\r\nEva;+12025550998;\r\n"
    with open_table(io.BytesIO(data)) as table:
        assert (table.encoding, table.notes) == ("cp1250", ("encoding_guessed",))
        rows = list(table.rows())
    assert [row.number for row in rows if row.problem] == [32]
    assert rows[-1] == FileRow(33, ["Eva", "+12025550998", ""])


def test_a_long_run_of_letters_is_skipped() -> None:
    data = ("Name;Phone\n" + "é" * 50_000 + "z;1\nZoë;+12025550123\n").encode("cp1252")
    assert detect(io.BytesIO(data), None) == guessed("cp1252")
