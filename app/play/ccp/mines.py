from app.play.ccp.table import Doing
from app.play.ccp.roll import rolled
def mined(units, at, manner) -> Doing:
    yield from rolled("japan", "mines")
