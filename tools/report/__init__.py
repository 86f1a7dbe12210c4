"""A run, a measurement or a sweep as one HTML file that needs nothing else: no server, no network.

`sources` reads folders by the files in them; `bounds`, `verdicts` and `run_answers` judge; `payload` packs
what the page draws; `sections` and `more_sections` write it with the pieces of `markup`; `page` puts the file
together. The page's own code lies beside them: `block.js` decodes blocks as host_sim/blocks/view.py does,
`raster.js` paints partitions, `charts.js` draws curves, the `explorer` files replay, `app.js` starts it all.
"""
