// The browsable API description: Swagger UI from the bundled library, on our own document.
"use strict";

const place = document.getElementById("api");
window.SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
