"""The authorization server's blueprint: public, since clients prove themselves in the form."""

from app.api.operation import AreaBlueprint
from app.enums import Area

blueprint = AreaBlueprint("oauth", __name__)
blueprint.area = Area.LEGACY_CALLS
