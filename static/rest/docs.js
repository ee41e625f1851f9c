// Shows the API's schema; a call made from the page carries the session's CSRF token, or the key given to Authorize.
(() => {
  "use strict";

  const place = document.getElementById("docs");

  const cookie = (name) =>
    document.cookie
      .split("; ")
      .find((one) => one.startsWith(`${name}=`))
      ?.slice(name.length + 1);

  const withToken = (request) => {
    const own = new URL(request.url, location.href).origin === location.origin;
    const token = cookie("csrftoken");
    if (own && token) {
      request.headers["X-CSRFToken"] = token;
    }
    return request;
  };

  window.SwaggerUIBundle({
    url: place.dataset.schema,
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
    presets: [window.SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    requestInterceptor: withToken,
  });
})();
