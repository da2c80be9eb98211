"""Makes objects with keys of their own: histograms, profiles, graphs, parameters, lists, anything.

``file["name"]`` gives one for every key that is neither a dataset nor a directory. All have
what `Object` has; a class of its own adds what ROOT's class can do:

========================== =========================================================
`Histogram`, `Profile`     ``TH1`` to ``TH3``, ``TProfile`` to ``TProfile3D``; the UHI protocol
`Axis`                     ``TAxis``
`SparseHistogram`          ``THnSparse``; `DenseHistogram`: ``THn``
`Efficiency`               ``TEfficiency``
`Graph`, `Graph2D`         ``TGraph``, ``TGraph2D`` and those with errors
`Collection`               ``TList``, ``TObjArray``, ``TClonesArray``, ``TMap``, ...
`Parameter`, `Text`        ``TParameter``, ``TObjString``
`Matrix`                   ``TVectorT``, ``TMatrixT``, ``TMatrixTSym``
`Undecoded`                an object in another one that nyssa does not decode
========================== =========================================================
"""

from nyssa.objects.axis import Axis, AxisTraits
from nyssa.objects.efficiency import Efficiency
from nyssa.objects.graph import Graph, Graph2D
from nyssa.objects.histogram import Histogram, PolygonHistogram
from nyssa.objects.object import Object
from nyssa.objects.profile import Profile
from nyssa.objects.pyroot import from_pyroot
from nyssa.objects.reader import Reader
from nyssa.objects.simple import Collection, Matrix, Parameter, Text, Undecoded
from nyssa.objects.sparse import DenseHistogram, SparseHistogram

__all__ = [
    "Axis",
    "AxisTraits",
    "Collection",
    "DenseHistogram",
    "Efficiency",
    "Graph",
    "Graph2D",
    "Histogram",
    "Matrix",
    "Object",
    "Parameter",
    "PolygonHistogram",
    "Profile",
    "Reader",
    "SparseHistogram",
    "Text",
    "Undecoded",
    "from_pyroot",
]
