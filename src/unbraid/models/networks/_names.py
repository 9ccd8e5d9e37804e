"""Networks by name: for settings in files, the command line, and ``"auto"``."""

from unbraid.foundation import check_option

from ._base import AbstractNetwork
from ._components import MONetComponents
from ._convolutional import Convolutional
from ._dense import Dense
from ._published import DisentanglementLibConvolutional, DissertationConvolutional

NETWORKS: dict[str, type[AbstractNetwork]] = {
    "dense": Dense,
    "convolutional": Convolutional,
    "disentanglement_lib": DisentanglementLibConvolutional,
    "dissertation": DissertationConvolutional,
    "monet_components": MONetComponents,
}


def choose_network(
    wanted: AbstractNetwork | str, image_shape: tuple[int, ...]
) -> AbstractNetwork:
    """A network from a name.

    Args:
        wanted: A network, a name, or ``"auto"``: that of disentanglement_lib for 64x64
            pixels, a convolutional one for larger and smaller images from 16x16, and a
            dense one for vectors and what is smaller still.
        image_shape: Of the data.
    """
    if isinstance(wanted, AbstractNetwork):
        return wanted
    if wanted == "auto":
        if image_shape[1:] == (64, 64):
            return DisentanglementLibConvolutional()
        is_large = len(image_shape) == 3 and min(image_shape[1:]) >= 16
        return Convolutional() if is_large else Dense()
    check_option("network", wanted, ("auto", *NETWORKS))
    return NETWORKS[wanted]()
