/**
 * Each permission that a security requirement asks for must be one that a key can have. OpenAPI 3.1 lets every kind of
 * security scheme have such roles; Spectral's own rule accepts them for OAuth2 only (stoplightio/spectral#2643).
 */
export default function permissions(requirement, _options, { document, path }) {
  const { securitySchemes, schemas } = document.data.components;
  return Object.entries(requirement).flatMap(([scheme, roles]) => {
    if (!Object.hasOwn(securitySchemes, scheme))
      return [{ message: `There is no security scheme "${scheme}".`, path: [...path, scheme] }];
    return roles
      .filter((role) => !schemas.Permission.enum.includes(role))
      .map((role) => ({ message: `There is no permission "${role}".`, path: [...path, scheme] }));
  });
}
