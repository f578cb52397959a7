"""The pages of campaigns: looking, the things they are made of with their history, recording, asking."""

from __future__ import annotations

from app.web.pages.campaigns import asking, history, looking, recording
from app.web.pages.campaigns.view import pages

__all__ = ["NAVIGATION", "asking", "history", "looking", "pages", "recording"]

NAVIGATION = [(12, "Campaigns", "campaigns.campaign_list")]
