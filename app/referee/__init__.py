"""The referee: questions ruled on, each answer with its proof. No Flask, no click, no rich here."""
