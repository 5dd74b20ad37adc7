"""
Find groups in a table
======================

A table has texts, numbers and categories. One call encodes each kind of column, chooses the number of groups, names
them, judges how reliable they are, and makes a report.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import consilience as cs

# %%
# **The table** is the catalog of a small shop. It does not say what kind of product each row is.

rng = np.random.default_rng(0)
goods = {
    "chair": ("oak seat back legs cushion wooden padded dining", 120, "Sitwell"),
    "knife": ("steel blade sharp handle kitchen forged edge chef", 45, "Edge & Co"),
    "phone": ("display camera battery charger unlocked screen memory touch", 600, "Fonix"),
    "lamp": ("light bulb shade warm bright desk switch glow", 80, "Lumo"),
}
rows = []
for number in range(160):
    words, price, brand = list(goods.values())[number % 4]
    description = " ".join(rng.choice(words.split(), 5, replace=False))
    rows.append([f"AX-{number:03}", description, f"${rng.normal(price, price / 8):.2f}", rng.choice([brand, "NoName"])])
products = pd.DataFrame(rows, columns=["sku", "description", "price", "brand"])
print(products[["sku", "description", "price"]].head(3))

# %%
# **One call** finds the groups. Prices may be typed as people type them; the column `sku` only identifies the rows.

result = cs.cluster(products)
print(result)

# %%
# **The result** holds the table with the group of each row and how sure the group is.

print(result.frame[["sku", "price", "name", "confidence"]].head())

# %%
# **The map** shows the products by all their columns together; similar products are near each other.

result.plot()
plt.show()

# %%
# **The report** is one HTML file with all of this, the evidence, and a search for products.

with TemporaryDirectory() as folder:
    path = Path(folder) / "report.html"
    result.report.save(path)
    print(f"report of {path.stat().st_size / 1000:.0f} kB")
