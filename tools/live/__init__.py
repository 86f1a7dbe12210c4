"""Pages on this computer that follow work in progress: a run, or a folder that a command is writing.

`server` answers a browser on 127.0.0.1 and nobody else; `run` is the page of a run; `folder` is the report
of folders, made again whenever they change. Their scripts lie beside them.
"""
