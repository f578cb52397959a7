"""The home page: what Sightline is, and what is loaded."""

from flask import Blueprint, render_template

from app.web import database
from db.contents import ruleset_contents

pages = Blueprint("home", __name__)
NAVIGATION = [(90, "API", "swagger.swagger")]


@pages.get("/")
def home() -> str:
    """What Sightline is, and what this database holds."""
    return render_template("home.html", rulesets=ruleset_contents(database()))
