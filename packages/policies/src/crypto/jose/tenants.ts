import type { PolicyWarning } from '@sluice/core'
import { optionalList, string } from '../../shared/options.js'

/** Stands for the id of a tenant where metadata name the issuers of many, as Microsoft Entra ID does. */
export const TENANT_PLACEHOLDER = '{tenantid}'
const EVERY_TENANT = '*'
const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const TENANT_ID = new RegExp(`^${GUID}$`)
const TENANT_ID_LENGTH = 36
/** One placeholder in an address. No line break: keys are stored behind such a line. */
const TEMPLATE = /^https?:\/\/[!-z|~]+\{tenantid\}[!-z|~]*$/

/** Addresses of Microsoft Entra ID whose metadata are of many tenants. */
const ENTRA_FOR_MANY =
  /^https:\/\/login\.(?:microsoftonline\.(?:com|us)|partner\.microsoftonline\.cn)\/(?:common|organizations)(?:\/|$)/
/** Claims that the administrator of a tenant chooses: those of another tenant can be the same. */
const CHOSEN_BY_TENANTS: ReadonlySet<string> = new Set([
  'email',
  'name',
  'preferred_username',
  'unique_name',
  'upn',
])

/** `tenants`, beside the address of an issuer. */
export const tenantsSchema = optionalList(
  string('The id of a tenant, or `*`.', { pattern: `^(\\*|${GUID.replaceAll('a-f', 'a-fA-F')})$` }),
  'For metadata of many tenants, such as those of `https://login.microsoftonline.com/organizations/v2.0`: the tenants whose tokens are accepted. The metadata have to name an issuer with `{tenantid}`. The claim `tid` of a token has to be listed here, and `iss` the issuer with `tid` in that place. `*` accepts every tenant, so that anybody who has one gets in.',
  { minItems: 1, maxItems: 1000, uniqueItems: true },
)

/** The tenants whose tokens are accepted, of an issuer that has many. */
export class Tenants {
  /** Null: all. */
  readonly #ids: ReadonlySet<string> | null

  constructor(written: readonly string[]) {
    this.#ids = written.includes(EVERY_TENANT) ? null : new Set(written.map((id) => id.toLowerCase()))
  }

  /** True for the id of a tenant that is accepted, as the provider writes it: in small letters. */
  has(tid: unknown): tid is string {
    return typeof tid === 'string' && TENANT_ID.test(tid) && (this.#ids === null || this.#ids.has(tid))
  }

  /** True if a token with these claims is of an accepted tenant. @param template the issuer with a placeholder. */
  accepts(template: string, iss: string | null, tid: unknown): boolean {
    return this.has(tid) && iss === template.replace(TENANT_PLACEHOLDER, tid)
  }

  /** True if this is the issuer of an accepted tenant. */
  isIssuer(template: string, iss: string): boolean {
    const from = template.indexOf(TENANT_PLACEHOLDER)
    return this.accepts(template, iss, iss.slice(from, from + TENANT_ID_LENGTH))
  }
}

/** Returns the tenants of a configuration; null if it has none. */
export function tenantsOf(written: readonly string[] | undefined): Tenants | null {
  return written === undefined ? null : new Tenants(written)
}

/** True for an issuer with one placeholder for the tenant. */
export function isTemplate(issuer: string): boolean {
  return TEMPLATE.test(issuer)
}

/** Returns what is doubtful about the tenants of an issuer. @param idClaim the claim that names the consumer. */
export function tenantWarnings(
  issuer: string | undefined,
  tenants: readonly string[] | undefined,
  idClaim: string | undefined,
): PolicyWarning[] {
  if (tenants === undefined)
    return issuer !== undefined && ENTRA_FOR_MANY.test(issuer)
      ? [
          {
            message: `the metadata of ${issuer} are of many tenants: no token is accepted`,
            remedy: 'add tenants: [ID, …], or name the issuer of one tenant',
          },
        ]
      : []
  const warnings: PolicyWarning[] = []
  if (tenants.includes(EVERY_TENANT))
    warnings.push({
      message: "tenants: ['*'] accepts the users of every tenant, and anybody can make a tenant",
      remedy: 'list the ids of tenants, unless a policy behind this one decides by the claim tid',
    })
  if (
    idClaim !== undefined &&
    CHOSEN_BY_TENANTS.has(idClaim) &&
    (tenants.length > 1 || tenants[0] === EVERY_TENANT)
  )
    warnings.push({
      message: `'consumerClaim' is '${idClaim}', which a tenant gives its users as it likes: one can pass for a user of another`,
      remedy: "leave out consumerClaim, or write 'oid'",
    })
  return warnings
}
