"""The contract, made from `proto/` by `generate`. Everything that a stage needs of it is in `torg_stages` itself."""
