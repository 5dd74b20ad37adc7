"""Write single-cell files without the warnings of anndata and mudata about their next versions."""

import warnings


def write_cells(data, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.write(path)
    return path


def make_mudata(**modalities):
    import mudata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mudata.MuData(modalities)
