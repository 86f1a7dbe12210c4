"""The league: one untuned controller against tuned rivals at equal bytes."""
