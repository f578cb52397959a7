"""Gates in and out: rulebook texts, maps, counters, charts, cases and exports."""
