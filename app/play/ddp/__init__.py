"""D-Day at Peleliu, played: cards, Japanese actions, US actions, combat, turns."""
