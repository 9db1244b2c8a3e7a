"""The reasons for which a new password is refused, and passwords that are accepted."""

import unicodedata
from itertools import product

import pytest

from app.errors import ValidationFailed
from app.services.auth import password_rules
from app.services.auth.password_checks import PasswordChecks
from app.services.auth.passwords import verify

KNOWN = (
    "ada.byron@hillside.example",
    "Ada Byron",
    "Northwind",
    "Northwind Voice Desk",
    "voice.northwind.example",
    "Hillside Dental",
)

COMMON = """
Partner2026Partner
PartnerPortal2026!
Partner-Portal-2026
Welcome1234567890
WelcomeWelcome2026
P@ssw0rdP@ssw0rd
P@ssw0rd12345678
P@$$w0rd2026!!!!
Password123456789
PasswordPassword1!
drowssapdrowssap
MyPassword123456
Passwort12345678!
motdepasse2026!!
Contraseña2026!!
Senha123456789012
Wachtwoord123456
ПарольПароль2026
qwertyuiop123456
qwertyuiopasdfghjkl
1qaz2wsx3edc4rfv
!QAZ2wsx#EDC4rfv
qwertzuiopasdfghjkl
azertyuiop12345!
йцукенгшщзхъфыва
123456789012345
098765432109876
111111111111111
aaaaaaaaaaaaaaaaaaaa
abcabcabcabcabc
abcdefghijklmnop
zyxwvutsrqponml
abc123abc123abc123
15.03.198515.03.1985
19851985198519851985
Administrator2026
AdminAdmin123456
Summer2026!Summer
Summer2026Winter2026
Winter2025/2026!
November2026!!!!
Sommer2026Sommer
Letmein123456789
ChangeMe12345678
iloveyouiloveyou
trustno1trustno1
Football12345678
Superman2026!!!!
dragondragon2026
sunshine20262026
Starwars12345678
secretsecret1234
Default123456789
test1234test1234
guest1234567890!
hellohello2026!!
receptionist2026!
CallCenter2026!!!
Assistant12345678
Campaign2026!!!!
passwordless future
""".strip().splitlines()

CLOSE = """
Northwind2026!!!!
N0rthw1nd2026!!!
NorthwindNorthwind
northwind northwind 1
dniwhtron20261234
Northwind Voice Desk
NorthwindVoiceDesk1
northwind-voice-desk-2026
Welcome2Northwind!
HillsideDental2026
h1lls1deD3ntal2026
voice.northwind.example
Ada.Byron@hillside.example
AdaByron20262026
adabyron123456789
ByronAda!ByronAda!
Northwind4Ada2026
Northwind-Ada-Hillside-2026
AdaByronHillside
AdaLovesNorthwind
""".strip().splitlines()

GOOD = """
correct horse battery
correcthorsebatterystaple
zwölf Kühe tanzen leise
ada.byron and the engine
mein alter Kater schnarcht
drei grüne Äpfel am Fenster
ich trinke morgens nur Kamillentee
la tortuga duerme despacio
siete gatos bajo la mesa azul
paraguas verde sobre la nevera
le vieux phare brille encore
trois petits chats gris dorment
o rio corre para o mar frio
quattro sedie rosse in cucina
mijn fiets staat achter de schuur
моя собака любит арбузы
猫は窓辺で静かに眠っている午後三時半
산책하는 고양이가 노래를 부른다 매일
شمس الصباح تشرق فوق الجبل البعيد
rödbetor och gamla kartor
vanha sauna tuoksuu koivulta
stary rower stoi przy płocie
tři žluté hrušky na stole
a fogorvos kertje csendes
lamp river copper ladder
violet umbrella seventeen trains
blue kettle whistles at dawn
granite-otter-lantern-quilt
Tuesday soup tastes of thunder
hunter gathers seven moonstones
never trust a sleeping printer 4
paper boats cross the Danube
two owls argue about jazz
bicycle marmalade ottoman frost
🐎🔋📎 quiet meadow stapler
K7v!pQ2zR9mXw4Lt
wJ8dYq3uTnZ5bHs1
f4c1e09b7d2a86e35b
X9-LmPq-27Vt-Rz8K
aT9_kLw2-vQx7RbZ
qR7#nW2$kD9@xB4!
""".strip().splitlines()


def problems(password: str) -> list[tuple[str, str]]:
    """Field and code of everything that the password is refused for."""
    try:
        password_rules.check(password, known=KNOWN)
    except ValidationFailed as refused:
        return [(problem.field, problem.code) for problem in refused.problems]
    return []


def test_good_passwords_in_many_languages_are_accepted() -> None:
    assert len(GOOD) >= 40
    assert {password: found for password in GOOD if (found := problems(password))} == {}


def test_common_passwords_are_refused_however_they_are_varied() -> None:
    expected = [("password", "too_common")]
    assert {password: problems(password) for password in COMMON} == dict.fromkeys(COMMON, expected)


def test_passwords_made_of_names_around_the_user_are_refused() -> None:
    assert len(COMMON) + len(CLOSE) >= 62
    expected = [("password", "too_close")]
    assert {password: problems(password) for password in CLOSE} == dict.fromkeys(CLOSE, expected)


def test_names_with_common_beginnings_and_endings_are_refused() -> None:
    names = ["Northwind", "n0rthw1nd", "dniwhtron", "Byron", "HillsideDental", "H!llside"]
    others = [
        "2026!!!",
        "123456",
        "Password1",
        "_2026",
        "@home2026",
        "IsTheBest",
        "4ever!",
        "Portal#1",
    ]
    tried = [
        password
        for name, other in product(names, others)
        for password in (name + other, other + name, name + other + name)
        if len(password) >= password_rules.MIN_LENGTH
    ]
    assert len(tried) > 100
    assert [password for password in tried if problems(password) == []] == []


def test_a_name_of_another_company_is_accepted() -> None:
    password = "Eastwind Voice Desk over the sea"
    assert problems(password) == []


@pytest.mark.parametrize(
    ("password", "expected"),
    [
        ("", [("password", "too_short")]),
        ("Partner2026!", [("password", "too_short")]),
        ("fourteen chars", [("password", "too_short")]),
        ("oddly 15 moons.", []),
        ("several quiet moons " * 3, []),
        ("quiet moon 7 " + "kaleidoscopic rain " * 51 + "x" * 18, []),
        ("quiet moon 7 " + "kaleidoscopic rain " * 51 + "x" * 19, [("password", "too_long")]),
        ("\ud800" + "violet tea kettles", []),
        ("violet\x00tea kettles", []),
    ],
)
def test_length_is_counted_in_characters(password: str, expected: list[tuple[str, str]]) -> None:
    assert problems(password) == expected


def test_the_messages_say_what_is_wrong_and_what_to_do() -> None:
    close = "This password is too close to your name, email or company."
    messages = []
    for password in ("x", "Password123456789", "NorthwindVoiceDesk1", "x" * 1001):
        with pytest.raises(ValidationFailed) as refused:
            password_rules.check(password, known=KNOWN)
        messages.append(refused.value.message)
    assert messages == [
        "Too short: 1 character. Use at least 15.",
        "This password is too common. Use four or more unrelated words.",
        f"{close} Use four or more unrelated words.",
        "Too long. Use at most 1000 characters.",
    ]


def test_a_new_password_is_hashed_only_if_it_meets_the_rules() -> None:
    checks = PasswordChecks(1, 0)
    with pytest.raises(ValidationFailed):
        password_rules.hash_new("Password123456789", known=KNOWN, checks=checks)
    composed = "zwölf Kühe tanzen leise"
    password_hash = password_rules.hash_new(composed, known=KNOWN, checks=checks)
    assert verify(password_hash, unicodedata.normalize("NFD", composed)) is True
