import type { PolicyWarning } from '@sluice/core'
import { optionalList, string } from '../../shared/options/options.js'

/** Placeholder for the tenant id in multi-tenant metadata, as used by Microsoft Entra ID. */
export const TENANT_PLACEHOLDER = '{tenantid}'
const EVERY_TENANT = '*'
const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const TENANT_ID = new RegExp(`^${GUID}$`)
const TENANT_ID_LENGTH = 36
/** Matches an address with one placeholder. Line breaks are excluded, because they separate it from stored keys. */
const TEMPLATE = /^https?:\/\/[!-z|~]+\{tenantid\}[!-z|~]*$/

/** Matches multi-tenant addresses of Microsoft Entra ID. */
const ENTRA_FOR_MANY =
  /^https:\/\/login\.(?:microsoftonline\.(?:com|us)|partner\.microsoftonline\.cn)\/(?:common|organizations)(?:\/|$)/
/** Claims that the administrator of a tenant controls, so they are not unique across tenants. */
const CHOSEN_BY_TENANTS: ReadonlySet<string> = new Set([
  'email',
  'name',
  'preferred_username',
  'unique_name',
  'upn',
])

/** Schema of `tenants` of an issuer. */
export const tenantsSchema = optionalList(
  string('A tenant id, or `*`.', { pattern: `^(\\*|${GUID.replaceAll('a-f', 'a-fA-F')})$` }),
  'Tenants whose tokens are accepted, for multi-tenant metadata such as `https://login.microsoftonline.com/organizations/v2.0`. The issuer in the metadata must contain `{tenantid}`. The claim `tid` must be listed here, and `iss` must be the issuer with `{tenantid}` replaced by `tid`. `*` accepts every tenant, and anybody can create one.',
  { minItems: 1, maxItems: 1000, uniqueItems: true },
)

/** Accepted tenants of a multi-tenant issuer. */
export class Tenants {
  /** Accepted tenant ids, or null for all. */
  readonly #ids: ReadonlySet<string> | null

  constructor(written: readonly string[]) {
    this.#ids = written.includes(EVERY_TENANT) ? null : new Set(written.map((id) => id.toLowerCase()))
  }

  /** Returns true for the lower-case id of an accepted tenant. */
  has(tid: unknown): tid is string {
    return typeof tid === 'string' && TENANT_ID.test(tid) && (this.#ids === null || this.#ids.has(tid))
  }

  /**
   * Returns true if a token with these claims belongs to an accepted tenant.
   * @param template issuer with a placeholder.
   */
  accepts(template: string, iss: string | null, tid: unknown): boolean {
    return this.has(tid) && iss === template.replace(TENANT_PLACEHOLDER, tid)
  }

  /** Returns true for the issuer of an accepted tenant. */
  isIssuer(template: string, iss: string): boolean {
    const from = template.indexOf(TENANT_PLACEHOLDER)
    return this.accepts(template, iss, iss.slice(from, from + TENANT_ID_LENGTH))
  }
}

/** Returns the configured tenants, or null. */
export function tenantsOf(written: readonly string[] | undefined): Tenants | null {
  return written === undefined ? null : new Tenants(written)
}

/** Returns true for an issuer with one tenant placeholder. */
export function isTemplate(issuer: string): boolean {
  return TEMPLATE.test(issuer)
}

/** Returns warnings about the tenants of an issuer. @param idClaim the claim that names the consumer. */
export function tenantWarnings(
  issuer: string | undefined,
  tenants: readonly string[] | undefined,
  idClaim: string | undefined,
): PolicyWarning[] {
  if (tenants === undefined)
    return issuer !== undefined && ENTRA_FOR_MANY.test(issuer)
      ? [
          {
            message: `${issuer} is a multi-tenant issuer, so no token is accepted without 'tenants'`,
            remedy: 'add tenants: [ID, …], or use the issuer of a single tenant',
          },
        ]
      : []
  const warnings: PolicyWarning[] = []
  if (tenants.includes(EVERY_TENANT))
    warnings.push({
      message: "tenants: ['*'] accepts users of every tenant, and anybody can create a tenant",
      remedy: 'list the tenant ids, unless a later policy checks the claim tid',
    })
  if (
    idClaim !== undefined &&
    CHOSEN_BY_TENANTS.has(idClaim) &&
    (tenants.length > 1 || tenants[0] === EVERY_TENANT)
  )
    warnings.push({
      message: `'consumerClaim' is '${idClaim}', which every tenant can set freely: its users can impersonate users of other tenants`,
      remedy: "remove consumerClaim, or use 'oid'",
    })
  return warnings
}
