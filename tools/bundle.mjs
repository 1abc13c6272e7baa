import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { build } from 'esbuild'

/**
 * Joins the compiled modules of each package into few files, `dist/bundle`, which is what its `exports` name: Node.js
 * takes about a millisecond for every module file, and a gateway would read 2,300 of them before it listens
 * (docs/internals/adr/0028-packages-are-bundled.md). The tests of a package run its modules one by one, and all others as bundles.
 */
const PACKAGES = ['core', 'config', 'policies', 'logger', 'gateway', 'cli']
/** What is bundled besides our own modules: all that comes as very many small ones. */
const INLINED = ['@sinclair/typebox', '@marcbachmann/cel-js']
/** Names that the packages give to files beside their modules, and the programs of threads and processes among them. */
const FILE_URL = /new URL\(\s*'(\.[^']+)',\s*import\.meta\.url,?\s*\)/g
/** Modules that make scripts for sandboxes out of the texts of functions and classes, whose names a bundle would change. */
const SCRIPTS = /\/sandbox\/(platform|runtime|transform)\.js$/

const root = join(import.meta.dirname, '..')
/** What decides on a bundle besides the modules: this program, and what is installed. */
const SETTINGS = [import.meta.filename, join(root, 'node_modules/.package-lock.json')]
await Promise.all(PACKAGES.map((name) => bundlePackage(join(root, 'packages', name))))

async function bundlePackage(folder) {
  const dist = join(folder, 'dist')
  const modules = modulesBelow(dist)
  const stamp = join(dist, '.bundled')
  if (newest([...modules, ...SETTINGS, join(folder, 'package.json')]) <= timeOf(stamp)) return
  const entries = [...exported(folder), ...modules.flatMap(programsOf)]
  rmSync(join(dist, 'bundle'), { recursive: true, force: true })
  await build({
    entryPoints: Object.fromEntries(entries.map((file) => [flatName(dist, file).slice(0, -3), file])),
    outdir: join(dist, 'bundle'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [{ name: 'packages', setup: (building) => setUp(building, dist) }],
  })
  writeFileSync(stamp, '')
}

function setUp(building, dist) {
  building.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || INLINED.some((name) => path === name || path.startsWith(`${name}/`))
      ? undefined
      : { external: true },
  )
  building.onLoad({ filter: SCRIPTS }, async ({ path }) => {
    const scripts = Object.entries(await import(path))
    return {
      contents: scripts.map(([name, text]) => `export const ${name} = ${JSON.stringify(text)}`).join('\n'),
    }
  })
  building.onLoad({ filter: /\.js$/ }, ({ path }) => {
    if (!path.startsWith(`${dist}/`)) return undefined
    return { contents: withFileUrls(readFileSync(path, 'utf8'), path, dist), loader: 'js' }
  })
}

/** The text of a module whose names of files hold in `dist/bundle`, where every program has a flat name. */
function withFileUrls(text, path, dist) {
  return text.replace(FILE_URL, (_, name) => {
    const file = join(dirname(path), name)
    const moved = file.endsWith('.js') ? `./${flatName(dist, file)}` : posix.join('..', relative(dist, file))
    return `new URL('${moved}${name.endsWith('/') ? '/' : ''}', import.meta.url)`
  })
}

function programsOf(path) {
  return [...readFileSync(path, 'utf8').matchAll(FILE_URL)]
    .map(([, name]) => join(dirname(path), name))
    .filter((file) => file.endsWith('.js'))
}

/** `dist/worker/main.js` is `dist/bundle/worker.main.js`. */
function flatName(dist, file) {
  return relative(dist, file).replaceAll('/', '.')
}

/** What other packages import, and what `bin/gw.mjs` starts. The type declarations stand beside the modules. */
function exported(folder) {
  const { exports = {}, bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const modules = Object.values(exports)
    .filter((entry) => entry.default !== undefined)
    .map(({ types }) => join(folder, types.replace(/\.d\.ts$/, '.js')))
  return bin === undefined ? modules : [...modules, join(folder, 'dist/main.js')]
}

function modulesBelow(dist) {
  return readdirSync(dist, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.endsWith('.test.js') && !file.startsWith(join(dist, 'bundle/')))
}

function newest(files) {
  return Math.max(...files.map(timeOf))
}

/** When a file was written; 0 when there is none. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
