/** Effects of the values of `unauthenticated`, the option of policies with a login. */
const SESSION_TEXTS: Readonly<Record<string, string>> = {
  auto: 'redirects page loads without a session to the login, and refuses other requests without one with 401 GW_AUTH_MISSING',
  redirect:
    'redirects GET and HEAD requests without a session to the login, and refuses other requests without one with 401 GW_AUTH_MISSING',
  401: 'refuses requests without a session with 401 GW_AUTH_MISSING',
  pass: 'forwards requests without a session',
}

const unidentified = (): string[] => ['refuses requests without credentials with 401 GW_AUTH_MISSING']
const unsigned = (): string[] => ['refuses requests without a signature with 401 GW_SIGNATURE_MISSING']

function withoutSession({ unauthenticated = 'auto' }: { readonly unauthenticated?: string }): string[] {
  const text = SESSION_TEXTS[unauthenticated]
  return text === undefined ? [] : [text]
}

/** Explains in words what policies do with requests without credentials, by policy name. */
export const MISSING_CREDENTIALS: readonly [string, (config: never) => readonly string[]][] = [
  ['api-key', unidentified],
  ['basic-auth', unidentified],
  ['jwt', unidentified],
  ['ldap', unidentified],
  ['mtls', unidentified],
  ['oauth2-introspection', unidentified],
  ['saml', unidentified],
  ['hmac-signature', unsigned],
  ['http-signature', ({ verify }: { readonly verify?: object }) => (verify === undefined ? [] : unsigned())],
  ['oidc', withoutSession],
  ['saml-login', withoutSession],
]
