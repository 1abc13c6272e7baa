import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * Dependencies that are shipped inside a package, because npm would otherwise print a warning (`EBADENGINE`) on Node.js
 * 20, where these packages work, or run a script during the installation.
 */
const BUNDLED = {
  // Declares that it needs Node.js 22, but contains binaries for 20. Only those for supported systems are shipped.
  '@sluice/gateway': ['uWebSockets.js'],
  '@sluice/bench': ['uWebSockets.js'],
  // Two dependencies of kafka declare that they need Node.js 22. koffi has a script that does nothing with a binary.
  '@sluice/logger': ['@platformatic/kafka', 'koffi'],
  // A dependency of fastify's `inject`, for tests, declares that it needs Node.js 22.
  '@sluice/control': ['fastify'],
}
/** Fields of a bundled package that make npm warn, run scripts or fetch more packages. */
const DROPPED = ['engines', 'scripts', 'devDependencies', 'optionalDependencies']
/** Binaries of the HTTP engine for systems or versions of Node.js (20 is 115, 22 is 127) that are not supported. */
const UNUSED_BINARY = /^uws_(?!linux_(?:x64|arm64)_(?:115|127)\.node$).*\.node$/

/**
 * Copies the dependencies that a package ships from node_modules into its folder. Returns the manifest with them.
 * @param lock `packages` of the lock file
 */
export function bundleDependencies(root, folder, manifest, lock) {
  const names = BUNDLED[manifest.name] ?? []
  if (names.length === 0) return manifest
  const paths = closure(names, lock)
  for (const path of paths) copyPackage(root, folder, path)
  const natives = paths.flatMap((path) => Object.keys(lock[path].optionalDependencies ?? {}))
  const native = natives
    .map((name) => [name, lock[`node_modules/${name}`]])
    .filter(([, entry]) => entry !== undefined && isWanted(entry))
    .map(([name, entry]) => [name, entry.version])
  return {
    ...manifest,
    bundleDependencies: names,
    optionalDependencies: { ...manifest.optionalDependencies, ...Object.fromEntries(native) },
  }
}

/** True for a package that a published package may ask for: for Linux, and without a script. */
function isWanted({ os = ['linux'], dev = false, hasInstallScript = false }) {
  return os.includes('linux') && !dev && !hasInstallScript
}

/** Returns the paths in the lock file of packages and everything that they depend on. */
export function closure(names, lock) {
  const found = new Set()
  const visit = (from, name) => {
    const path = resolveName(from, name, lock)
    if (found.has(path)) return
    found.add(path)
    for (const dependency of Object.keys(lock[path].dependencies ?? {})) visit(path, dependency)
  }
  for (const name of names) visit('', name)
  return [...found]
}

/** Finds a package as Node.js does: in the node_modules of the package and of those around it. */
function resolveName(from, name, lock) {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (lock[path] !== undefined) return path
  if (from === '') throw new Error(`package-lock.json has no ${name}`)
  return resolveName(from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name, lock)
}

function copyPackage(root, folder, path) {
  const to = join(folder, path)
  // Nested packages are copied by themselves.
  cpSync(join(root, path), to, {
    recursive: true,
    filter: (file) =>
      file !== join(root, path, 'node_modules') &&
      !file.endsWith('.map') &&
      !UNUSED_BINARY.test(basename(file)),
  })
  const file = join(to, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  for (const key of DROPPED) delete manifest[key]
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
}
