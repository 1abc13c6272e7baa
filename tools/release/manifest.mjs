/** Fields of a manifest that only the repository needs. Every file of the prepared folder is packed, without `files`. */
const DROPPED = ['devDependencies', 'files', 'scripts', 'private']
const DEPENDENCIES = ['dependencies', 'optionalDependencies', 'peerDependencies']

/**
 * Returns the package.json of a published package: workspace packages at exactly the released version, and the fields
 * that registries show and that provenance needs.
 * @param release `version`, `repository` (address or null) and `names` of all workspace packages
 * @param folder folder of the package in the repository
 */
export function releaseManifest(manifest, { version, repository, names }, folder) {
  const kept = Object.fromEntries(Object.entries(manifest).filter(([key]) => !DROPPED.includes(key)))
  for (const key of DEPENDENCIES) {
    if (kept[key] !== undefined) kept[key] = withVersion(kept[key], version, names)
  }
  return {
    ...kept,
    version,
    ...(repository !== null && { repository: { type: 'git', url: repository, directory: folder } }),
    publishConfig: {
      access: 'public',
      provenance: true,
      // npm refuses to make a prerelease the latest version.
      ...(version.includes('-') && { tag: 'next' }),
    },
  }
}

function withVersion(dependencies, version, names) {
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, range]) => [name, names.has(name) ? version : range]),
  )
}
