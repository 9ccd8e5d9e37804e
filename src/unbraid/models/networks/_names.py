"""Networks by name, for settings in files and the command line."""

from unbraid.foundation import check_option

from ._base import AbstractNetwork
from ._components import MONetComponents
from ._convolutional import Convolutional
from ._dense import Dense
from ._published import DisentanglementLibConvolutional, DissertationConvolutional
from ._separable import Separable

NETWORKS: dict[str, type[AbstractNetwork]] = {
    "dense": Dense,
    "convolutional": Convolutional,
    "disentanglement_lib": DisentanglementLibConvolutional,
    "dissertation": DissertationConvolutional,
    "monet_components": MONetComponents,
    "separable": Separable,
}


def choose_network(
    network: AbstractNetwork | str, image_shape: tuple[int, ...]
) -> AbstractNetwork:
    """Return a network, given itself or its name.

    Args:
        network: A network, its name, or ``"auto"``: that of disentanglement_lib for
            images of 64x64 pixels, a convolutional one for other images of at least
            16x16 pixels, and a dense one for smaller images and vectors.
        image_shape: Shape of an image of the data.
    """
    if isinstance(network, AbstractNetwork):
        return network
    if network == "auto":
        if image_shape[1:] == (64, 64):
            return DisentanglementLibConvolutional()
        is_large = len(image_shape) == 3 and min(image_shape[1:]) >= 16
        return Convolutional() if is_large else Dense()
    check_option("network", network, ("auto", *NETWORKS))
    return NETWORKS[network]()
