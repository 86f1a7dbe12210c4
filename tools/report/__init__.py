"""A run, a measurement or a sweep as one HTML file that needs nothing else: no server, no network.

`sources` reads folders by the files in them; `verdicts` judges a run; `runs`, `blocks`, `measurements` and
`comparisons` judge the rest and write their sections with the pieces of `markup`; `page` puts the file together,
and the page over many. The page's own code lies beside them: `charts.js` draws curves, `partition.js` paints
partitions, `explorer.js` replays them, `tables.js` sorts, `app.js` fills the page.
"""
