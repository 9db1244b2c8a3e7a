"""The names of the demo: two resellers, their customers, assistants and campaigns."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.enums import Tier, UsageUnit
from app.models.folding import fold
from app.services.pricing import PlanTerms, PlanText

HISTORY_DAYS = 120


@dataclass(frozen=True, slots=True)
class OrganizationStory:
    name: str
    service: str
    timezone: str
    tier: Tier
    area_code: str
    pace: int
    """Conversations on an ordinary working day."""
    address: tuple[str, ...]

    @property
    def host(self) -> str:
        return "".join(c for c in fold(self.name) if c.isascii() and c.isalnum()) + ".example"


@dataclass(frozen=True, slots=True)
class PartnerStory:
    name: str
    slug: str
    colour: str
    product_name: str
    header_links: tuple[tuple[str, str], ...]
    organizations: tuple[OrganizationStory, ...]
    extended: bool
    """Whether its legacy client has an extension."""
    address: tuple[str, ...]
    tax_id: str
    payment: str
    """How customers pay statements, within two weeks."""
    payment_texts: Mapping[str, str]
    """The same in other languages, by their codes."""


PARTNERS = (
    PartnerStory(
        name="Larkfield",
        slug="larkfield",
        colour="#7a2e6b",
        product_name="Larkfield Reception",
        header_links=(
            ("Help centre", "https://help.larkfield.example/"),
            ("Status", "https://status.larkfield.example/"),
        ),
        organizations=(
            OrganizationStory(
                "Castell Property Management", "Property management", "America/Denver",
                Tier.PLUS, "303", 14, ("1801 Larimer Street", "Denver, CO 80202"),
            ),
            OrganizationStory(
                "Kowalczyk & Daughters Roofing", "Roofing and gutters", "America/Chicago",
                Tier.BASIC, "312", 5, ("640 West Randolph Street", "Chicago, IL 60661"),
            ),
            OrganizationStory(
                "Łódź Auto Serwis", "Car repair", "America/New_York",
                Tier.FREE, "212", 1, ("88 Greenpoint Avenue", "Brooklyn, NY 11222"),
            ),
        ),
        extended=True,
        address=("14 Foundry Lane", "Suite 300", "Wilmington, DE 19801"),
        tax_id="EIN 00-1234567",
        payment="Bank transfer to Larkfield, First Example Bank\n"
        "Routing number 000000000, account 00012345678\nReference: the invoice number",
        payment_texts={
            "de": "Überweisung an Larkfield, First Example Bank\n"
            "Routing-Nummer 000000000, Konto 00012345678\nVerwendungszweck: die Rechnungsnummer",
            "es": "Transferencia a Larkfield, First Example Bank\n"
            "Número de ruta 000000000, cuenta 00012345678\nConcepto: el número de factura",
            "fr": "Virement à Larkfield, First Example Bank\n"
            "Numéro de routage 000000000, compte 00012345678\nRéférence : le numéro de facture",
        },
    ),
    PartnerStory(
        name="Sonnenhof",
        slug="sonnenhof",
        colour="#ffc800",
        product_name="Sonnenhof Empfang",
        header_links=(("Support", "https://support.sonnenhof.example/"),),
        organizations=(
            OrganizationStory(
                "Grüner Gartenbau", "Gardens and landscaping", "America/Los_Angeles",
                Tier.PLUS, "415", 9, ("2200 Jerrold Avenue", "San Francisco, CA 94124"),
            ),
            OrganizationStory(
                "Dr. Okafor Family Practice", "Family medicine", "America/New_York",
                Tier.BASIC, "617", 6, ("75 Francis Street", "Boston, MA 02115"),
            ),
            OrganizationStory(
                "Eastgate Veterinary Clinic", "Veterinary clinic", "America/Chicago",
                Tier.FREE, "773", 2, ("3140 North Clark Street", "Chicago, IL 60657"),
            ),
        ),
        extended=False,
        address=("Lindenstraße 18", "50674 Köln", "Germany"),
        tax_id="DE000000000",
        payment="Überweisung an Sonnenhof, Beispielbank Köln\n"
        "IBAN DE00 0000 0000 0000 0000 00\nVerwendungszweck: Rechnungsnummer",
        payment_texts={
            "en": "Bank transfer to Sonnenhof, Beispielbank Köln\n"
            "IBAN DE00 0000 0000 0000 0000 00\nReference: the invoice number",
            "es": "Transferencia a Sonnenhof, Beispielbank Köln\n"
            "IBAN DE00 0000 0000 0000 0000 00\nConcepto: el número de factura",
            "fr": "Virement à Sonnenhof, Beispielbank Köln\n"
            "IBAN DE00 0000 0000 0000 0000 00\nRéférence : le numéro de facture",
        },
    ),
)  # fmt: skip

PLANS: dict[Tier, tuple[PlanTerms, tuple[str, ...]]] = {
    Tier.FREE: (
        PlanTerms(0, "USD", unit=UsageUnit.MINUTE, included=30),
        ("Answers around the clock", "Help by email"),
    ),
    Tier.BASIC_TRIAL: (
        PlanTerms(0, "USD", unit=UsageUnit.MINUTE, included=60, trial_days=14),
        ("Everything in Basic", "No card needed"),
    ),
    Tier.BASIC: (
        PlanTerms(2900, "USD", unit=UsageUnit.MINUTE, included=300, overage_micros=150_000),
        ("Everything in Free", "Campaigns and contact files", "Help within a day"),
    ),
    Tier.PLUS: (
        PlanTerms(9900, "USD", unit=UsageUnit.MINUTE, included=1500, overage_micros=100_000),
        ("Everything in Basic", "Calls from your own software", "Help within an hour"),
    ),
}
"""What each plan costs and offers."""

PLAN_TEXTS: dict[Tier, tuple[PlanText, ...]] = {
    Tier.FREE: (
        PlanText("de", "Kostenlos", ("Nimmt rund um die Uhr ab", "Hilfe per E-Mail")),
        PlanText("es", "Gratis", ("Responde las 24 horas", "Ayuda por correo")),
        PlanText("fr", "Gratuit", ("Répond 24 heures sur 24", "Aide par e-mail")),
    ),
    Tier.BASIC_TRIAL: (
        PlanText("de", "Basis-Test", ("Alles aus Basis", "Keine Karte nötig")),
        PlanText("es", "Prueba de Básico", ("Todo lo de Básico", "Sin tarjeta")),
        PlanText("fr", "Essai d’Essentiel", ("Tout d’Essentiel", "Sans carte bancaire")),
    ),
    Tier.BASIC: (
        PlanText(
            "de",
            "Basis",
            ("Alles aus Kostenlos", "Kampagnen und Kontaktdateien", "Hilfe in einem Tag"),
        ),
        PlanText(
            "es",
            "Básico",
            ("Todo lo de Gratis", "Campañas y archivos de contactos", "Ayuda en un día"),
        ),
        PlanText(
            "fr",
            "Essentiel",
            ("Tout de Gratuit", "Campagnes et fichiers de contacts", "Aide sous un jour"),
        ),
    ),
    Tier.PLUS: (
        PlanText(
            "de",
            "Plus",
            (
                "Alles aus Basis",
                "Anrufe aus Ihrer eigenen Software",
                "Hilfe innerhalb einer Stunde",
            ),
        ),
        PlanText(
            "es",
            "Plus",
            ("Todo lo de Básico", "Llamadas desde su propio software", "Ayuda en una hora"),
        ),
        PlanText(
            "fr",
            "Plus",
            ("Tout d’Essentiel", "Appels depuis votre propre logiciel", "Aide sous une heure"),
        ),
    ),
}
"""The name and features of each plan in the other languages of the portal."""

OWNER = "Ines Calloway"
"""The owner of the first organization of each partner."""

CONVERSATION = {
    "summary": "Moved the appointment from Tuesday to Thursday at 10:00. Wants a text message the "
    "day before.",
    "transcript": [
        {"speaker": speaker, "text": text}
        for speaker, text in (
            ("assistant", "Hello, this is Robin. I’m calling about your appointment on Tuesday."),
            ("person", "Hi. Tuesday is difficult. Do you have anything on Thursday?"),
            ("assistant", "Thursday at 10:00 is free. Shall I move it there?"),
            ("person", "Yes, please. And could you text me the day before?"),
            ("assistant", "Done: Thursday at 10:00, and a text message on Wednesday. Goodbye."),
        )
    ],
}
"""What a voice engine reports about the call that a person answers."""
