import type { ApiOperation, ApiOutline, SecurityRequirement } from '@sluice/policies'
import { CONSUMERS, type DocumentDraft, filled } from '../draft.js'
import type { SourceTree } from '../source-tree.js'

interface SecuritySource {
  readonly schemes: ApiOutline['securitySchemes']
  readonly tree: SourceTree
  readonly issuer: string | undefined
}

/** Policies that protect a route, and the schemes that no policy covers. */
interface Protection {
  readonly policies: readonly string[]
  readonly unprotected: readonly string[]
}

/** A policy for a security scheme, or the reason why it cannot be mapped. */
type Mapped = { readonly use: string; readonly with: Readonly<Record<string, unknown>> } | string

const REFUSED = 'callers need an entry in consumers.jsonl; until then they are refused'
/** Note and remedy for each policy. */
const NOTES: Readonly<Record<string, readonly [string, string]>> = {
  'api-key': [REFUSED, 'gw consumer add NAME; gw key create NAME'],
  'basic-auth': [REFUSED, 'gw consumer add NAME --password'],
  jwt: [
    'the description names no audience, so tokens for other services of the issuer are accepted',
    'add audiences to the policy',
  ],
}
const DISCOVERY = /\/\.well-known\/openid-configuration\/?$/

/** Maps the security schemes of a description to policies. */
export class SecurityMapping {
  readonly #draft: DocumentDraft
  readonly #source: SecuritySource
  readonly #reported = new Set<string>()

  constructor(draft: DocumentDraft, source: SecuritySource) {
    this.#draft = draft
    this.#source = source
  }

  /** Returns the policies for the operations of a route. Callers must satisfy all of them. */
  protect(operations: readonly ApiOperation[]): Protection {
    const protections = operations.map((operation) => this.#protectOperation(operation))
    return {
      policies: [...new Set(protections.flatMap(({ policies }) => policies))],
      unprotected: [...new Set(protections.flatMap(({ unprotected }) => unprotected))],
    }
  }

  #protectOperation({ security, path, method }: ApiOperation): Protection {
    const isPublic = security.length === 0 || security.some((one) => Object.keys(one).length === 0)
    if (isPublic) return { policies: [], unprotected: [] }
    const place = this.#source.tree.placeOf(['paths', path, method.toLowerCase()])
    const isMapped = ([name, scopes]: readonly [string, readonly string[]]): boolean =>
      typeof this.#policyFor(name, scopes) !== 'string'
    const chosen = security.find((one) => Object.entries(one).every(isMapped)) ?? security[0]!
    const reason = `callers may choose between ${security.map(requirementText).join(' or ')}, and the route accepts only ${requirementText(chosen)}`
    const remedy = 'use one route per credential, selected by match.headers'
    if (security.length > 1)
      this.#draft.report.leaveOut({ place, what: `security of ${method} ${path}`, reason, remedy })
    const policies: string[] = []
    const unprotected: string[] = []
    for (const [name, scopes] of Object.entries(chosen)) {
      const mapped = this.#policyFor(name, scopes)
      const roles = scopes.join(', ')
      if (typeof mapped === 'string') {
        this.#report(name, mapped)
        unprotected.push(`security scheme ${name}`)
        continue
      }
      policies.push(this.#addPolicy(name, mapped))
      if (mapped.with['consumers'] !== CONSUMERS || roles === '') continue
      // OpenAPI 3.1 names roles like scopes. Neither policy checks them.
      this.#report(`${name} (${roles})`, 'it requires roles, which the description does not assign', place)
      unprotected.push(`roles ${roles} of security scheme ${name}`)
    }
    return { policies, unprotected }
  }

  #addPolicy(name: string, mapped: Exclude<Mapped, string>): string {
    const place = this.#source.tree.placeOf(['components', 'securitySchemes', name])
    const [reason, remedy] = NOTES[mapped.use]!
    this.#draft.report.note({ place, what: `security scheme ${name}`, reason, remedy })
    return this.#draft.addPolicy(name, mapped.use, mapped.with)
  }

  #report(
    name: string,
    reason: string,
    place = this.#source.tree.placeOf(['components', 'securitySchemes', name]),
  ): void {
    if (this.#reported.has(name)) return
    this.#reported.add(name)
    const remedy =
      'add a policy to its routes, such as jwt, oidc, mtls or oauth2-introspection, and remove not-imported'
    this.#draft.reportUnprotected({ place, what: `security scheme ${name}`, reason, remedy })
  }

  #policyFor(name: string, scopes: readonly string[]): Mapped {
    const scheme = this.#source.schemes.get(name)
    const { type, in: location, name: field, scheme: http, openIdConnectUrl } = scheme ?? {}
    if (scheme === undefined) return 'the description does not define it'
    if (type === 'apiKey' && (location === 'header' || location === 'query'))
      return { use: 'api-key', with: { in: location, name: String(field), consumers: CONSUMERS } }
    if (type === 'apiKey') return 'keys in cookies are not supported by api-key'
    const kind = String(http).toLowerCase()
    if (type === 'http' && kind === 'basic') return { use: 'basic-auth', with: { consumers: CONSUMERS } }
    if (type === 'openIdConnect') return tokens(this.#source.issuer ?? issuerOf(openIdConnectUrl), scopes)
    if (type === 'oauth2' || (type === 'http' && kind === 'bearer'))
      return tokens(this.#source.issuer, scopes)
    return `${type === 'http' ? `HTTP authentication '${kind}'` : `type '${String(type)}'`} has no policy that the description configures completely`
  }
}

function tokens(issuer: string | undefined, scopes: readonly string[]): Mapped {
  if (issuer === undefined) return 'the description does not name the issuer of the tokens; use --issuer URL'
  return { use: 'jwt', with: { jwks: { discovery: issuer }, requiredScopes: filled(scopes) } }
}

/** Returns the issuer of an OpenID configuration URL, or undefined for other URLs. */
function issuerOf(url: unknown): string | undefined {
  const text = String(url)
  return URL.canParse(text) && DISCOVERY.test(text) ? text.replace(DISCOVERY, '') : undefined
}

function requirementText(requirement: SecurityRequirement): string {
  return Object.keys(requirement).join(' with ')
}
