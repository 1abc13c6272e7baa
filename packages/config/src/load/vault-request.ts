import { resolve } from 'node:path'
import type { Catalog } from '@sluice/core'
import { validPartsOf } from '../check/valid-parts.js'
import { schemaViolationsOf } from '../check/violation.js'
import { isMapping } from '../diagnostic/document-path.js'
import type { Issue } from '../diagnostic/issue.js'
import type { DocumentSource } from '../file/document-file.js'
import { readTextFile } from '../file/text-file.js'
import type { VaultAuthPlan, VaultPlan } from '../plan/plan.js'
import { vaultPlan } from '../planning/vault-plan.js'
import { readDocument } from '../read/read-document.js'
import { splitRoutes } from '../read/route-parts.js'
import { ReferenceValues } from '../reference/reference-values.js'
import { mapTexts } from '../resolve/plan-text.js'
import { isTemplate, vaultReferencesIn } from '../template/text-template.js'

/** Access to Vault with references resolved, defaults from the environment, and absolute paths. Never shown. */
export interface VaultSettings extends VaultPlan {
  readonly address: string
  readonly auth: VaultAuthPlan
}

/** Secrets that a document needs. */
export interface VaultRequest {
  /** Access to Vault, or the reason why it is unknown. */
  readonly settings: VaultSettings | Issue
  /** References such as `${vault:app/db#password}`. Those in comments are included. */
  readonly references: readonly string[]
}

const MAX_FILE_BYTES = 64 * 1024

/** Returns the secrets that a document needs, or null. Reads only the part of the text outside of its routes. */
export function vaultRequestOf(
  source: DocumentSource,
  { catalog, env }: { readonly catalog: Catalog; readonly env: Readonly<Record<string, string | undefined>> },
): VaultRequest | null {
  const references = vaultReferencesIn(source.text)
  if (references.length === 0) return null
  const readFile = (path: string): string => readTextFile(path, MAX_FILE_BYTES)
  const values = new ReferenceValues({ env, readFile, documentName: source.name })
  const parts = splitRoutes(source.text)
  const text = parts === null ? source.text : parts.head + parts.tail
  const { value } = readDocument(text, catalog, (part) => values.textOf(part))
  const section = (isMapping(value) ? value['vault'] : undefined) ?? {}
  let isResolved = true
  const vault = mapTexts(section, (part) => {
    const text = isTemplate(part) ? values.textOf(part) : part
    isResolved &&= text !== null
    return text ?? part
  })
  const document = { version: 1, routes: [], vault: structuredClone(vault) }
  const isValid = isResolved && schemaViolationsOf(document).length === 0
  const plan = isValid ? validPartsOf(document)?.document.vault : undefined
  if (plan === undefined)
    return { settings: { message: 'the settings of Vault are invalid', remedy: 'correct vault' }, references }
  return { settings: settingsOf(vaultPlan(plan), values.folder, env), references }
}

function settingsOf(
  plan: VaultPlan,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): VaultSettings | Issue {
  const given = (name: string): string | null => env[name]?.trim() || null
  const address = plan.address ?? given('VAULT_ADDR')
  const token = given('VAULT_TOKEN')
  const auth = plan.auth ?? (token === null ? null : ({ kind: 'token', token } as const))
  const caFile = plan.caFile ?? given('VAULT_CACERT')
  if (address === null || !/^https?:\/\/[^/?#@\s]+\/?$/.test(address))
    return missing(
      'the address of Vault is not set, or not an origin',
      'set vault.address or VAULT_ADDR to a URL such as https://vault.internal:8200',
    )
  if (auth === null) return missing('Vault needs a login', 'set vault.auth or VAULT_TOKEN')
  return {
    ...plan,
    address: address.replace(/\/$/, ''),
    namespace: plan.namespace ?? given('VAULT_NAMESPACE'),
    auth: 'file' in auth ? { ...auth, file: resolve(folder, auth.file) } : auth,
    caFile: caFile === null ? null : resolve(folder, caFile),
  }
}

function missing(message: string, remedy: string): Issue {
  return { message, remedy, ofMachine: true }
}
