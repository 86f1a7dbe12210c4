"""A run, a measurement or a sweep as one HTML file that needs nothing else: no server, no network.

`sources` reads folders by the files in them, `bounds` and `verdicts` judge, `payload` packs what the page
draws, `page` puts the file together. The page's own code is beside them: `block.js` decodes blocks as
host_sim/block_view.py does, `charts.js` draws curves, `explorer.js` replays partitions.
"""
