"""Made-up patients: two views that tell three groups apart, and a clinical table that describes them."""

import numpy as np

from stage import write_csv

N_PATIENTS = 150
GROUPS = np.repeat([0, 1, 2], [70, 50, 30])
PATIENTS = [f"P{i:03}" for i in range(N_PATIENTS)]
CLINIC = ("patient", "sex", "age", "stage", "months", "event", "admitted", "cost", "smoker", "site", "unused", "notes")


def make_clinic(seed=0):
    """Return the columns of the clinical table as lists of cells."""
    rng = np.random.default_rng(seed)
    age = np.round(60 - 9.0 * (GROUPS == 1) + rng.normal(0, 6, N_PATIENTS))
    until_death = rng.exponential(np.array([90.0, 40.0, 12.0])[GROUPS])
    until_end = rng.uniform(6, 80, N_PATIENTS)
    stage = np.array(["I", "II", "III", "IV"])[np.clip(rng.integers(0, 3, N_PATIENTS) + (GROUPS == 2), 0, 3)]
    days = np.datetime64("2015-01-01") + rng.integers(0, 2000, N_PATIENTS).astype("m8[D]")
    cost = np.exp(8 + 0.3 * rng.normal(size=N_PATIENTS) + (GROUPS == 2))
    words = np.array(["stable", "mild pain", "new lesion", "fatigue"])
    cells = {
        "patient": PATIENTS,
        "sex": np.where(rng.random(N_PATIENTS) < 0.5, "female", "male").tolist(),
        "age": age.astype(int).tolist(),
        "stage": stage.tolist(),
        "months": np.minimum(until_death, until_end).round(1).tolist(),
        "event": (until_death <= until_end).astype(int).tolist(),
        "admitted": days.astype(str).tolist(),
        "cost": [f"${amount:,.2f}" for amount in cost],
        "smoker": np.where(rng.random(N_PATIENTS) < 0.3, "yes", "no").tolist(),
        "site": ["Leeds"] * N_PATIENTS,
        "unused": [""] * N_PATIENTS,
        "notes": [
            f"{words[i % 4]} on day {i}, seen by doctor {'abc'[i % 3]}" for i in rng.integers(0, 400, N_PATIENTS)
        ],
    }
    cells["age"][3] = cells["months"][5] = ""
    return cells


def write_patients(folder, seed=0):
    """Write clinic.csv, genes.csv and proteins.csv, with the rows in different orders."""
    rng = np.random.default_rng(seed)
    clinic = make_clinic(seed)
    rows = list(zip(*clinic.values(), strict=True))
    write_csv(folder / "clinic.csv", list(clinic), rows[::-1])
    for name, n_columns in (("genes", 6), ("proteins", 4)):
        X = rng.normal(size=(N_PATIENTS, n_columns)) + rng.normal(0, 4, (3, n_columns))[GROUPS]
        header = ["patient", *(f"{name}_{letter}" for letter in "abcdef"[:n_columns])]
        write_csv(folder / f"{name}.csv", header, ([p, *x] for p, x in zip(PATIENTS, X.round(3), strict=True)))
    return folder
