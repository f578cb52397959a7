"""Opens a QGIS project with QGIS itself, without a screen, and tells as JSON what it found; draws moments of it.

    PYTHON-WITH-PYQGIS tests/qgis_reader.py PROJECT PICTURE-FOLDER MOMENT…

It is run by the Python that QGIS was built for, so it imports nothing of the project.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsApplication,
    QgsCoordinateTransform,
    QgsDateTimeRange,
    QgsFeatureRequest,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsProject,
    QgsVectorLayerTemporalContext,
)
from qgis.PyQt.QtCore import QDateTime, QSize, Qt
from qgis.PyQt.QtGui import QColor


def layer_facts(layer: Any) -> dict[str, Any]:
    """What QGIS made of a layer."""
    time = layer.temporalProperties()
    return {
        "valid": layer.isValid(),
        "features": layer.featureCount(),
        "crs": layer.crs().authid(),
        "timed": time.isActive(),
        "fields": [time.startField(), time.endField()],
        "renderer": layer.renderer().type(),
        "labels": layer.labelsEnabled(),
    }


def hour_of(moment: str) -> Any:
    """The hour that begins at a moment."""
    begins = QDateTime.fromString(moment, Qt.ISODate)
    return QgsDateTimeRange(begins, begins.addSecs(3600), True, False)


def shown(layer: Any, hour: Any) -> list[str]:
    """Keys of the features that the temporal controller would show."""
    time = layer.temporalProperties()
    temporal = QgsVectorLayerTemporalContext()
    temporal.setLayer(layer)
    request = QgsFeatureRequest().setFilterExpression(time.createFilterString(temporal, hour))
    return sorted(str(feature["key"]) for feature in layer.getFeatures(request))


def draw(project: Any, hour: Any, path: Path) -> int:
    """A picture of an hour; how many colours it has."""
    settings = QgsMapSettings()
    settings.setLayers([node.layer() for node in project.layerTreeRoot().findLayers()])
    settings.setDestinationCrs(project.crs())
    first = project.viewSettings().defaultViewExtent()
    way = QgsCoordinateTransform(first.crs(), project.crs(), project)
    settings.setExtent(way.transformBoundingBox(first))
    settings.setOutputSize(QSize(700, 900))
    settings.setBackgroundColor(QColor(214, 229, 235))
    settings.setIsTemporal(True)
    settings.setTemporalRange(hour)
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    picture = job.renderedImage()
    picture.save(str(path))
    return len({picture.pixel(x, y) for x in range(0, 700, 2) for y in range(0, 900, 2)})


def main(source: str, folder: str, moments: list[str]) -> None:
    """Open, tell and draw."""
    application = QgsApplication([], True)
    application.initQgis()
    project = QgsProject.instance()
    opened = project.read(source)
    layers = {layer.id(): layer for layer in project.mapLayers().values()}
    span = project.timeSettings().temporalRange()
    extent = project.viewSettings().defaultViewExtent()
    hours = {moment: hour_of(moment) for moment in moments}
    print(
        json.dumps(
            {
                "opened": opened,
                "crs": project.crs().authid(),
                "span": [end.toString(Qt.ISODate) for end in (span.begin(), span.end())],
                "view": [extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum()],
                "layers": {name: layer_facts(layer) for name, layer in layers.items()},
                "shown": {moment: shown(layers["sightline_entry"], hour) for moment, hour in hours.items()},
                "colours": {
                    moment: draw(project, hour, Path(folder) / f"hour-{n}.png")
                    for n, (moment, hour) in enumerate(hours.items())
                },
            }
        )
    )


main(sys.argv[1], sys.argv[2], sys.argv[3:])
