import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Catalog } from '@sluice/core'
import { isMapping } from '../diagnostic/document-path.js'
import { writtenPolicies } from '../schema/policy-uses.js'
import { replaceMarked } from '../secrets/mask.js'

/**
 * Returns the versions of the files that policies name, by path. Policies read these files when they are
 * compiled, so a new version is a new configuration with the same plan. Folders and missing files have no
 * version.
 * @param root the document with references resolved
 * @param folder folder that relative paths start in
 */
export function policyFileVersions(
  root: unknown,
  { catalog, folder }: { readonly catalog: Catalog; readonly folder: string },
): Readonly<Record<string, string>> {
  const versions: Record<string, string> = {}
  const replace = (path: unknown): unknown => {
    const version = typeof path === 'string' ? versionOf(resolve(folder, path)) : null
    if (version !== null) versions[String(path)] = version
    return path
  }
  for (const policy of writtenPolicies(root)) {
    const schema = catalog.get(policy.use)?.schema
    if (schema !== undefined && isMapping(policy.with))
      replaceMarked(schema, policy.with, { keyword: 'path', replace })
  }
  return versions
}

function versionOf(path: string): string | null {
  try {
    const stats = statSync(path)
    return stats.isFile() ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : null
  } catch {
    // The policy reports the problem itself.
    return null
  }
}
