import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import * as yaml from 'yaml'
import { writeManPages } from './man-pages.mjs'

/**
 * Bundles the compiled modules of each package into `dist/bundle`, to which its `exports` point. Node.js needs about a
 * millisecond per module file, and a gateway would load 2,300 of them before it listens
 * (docs/internals/adr/0028-bundle-packages.md). Tests use the modules of their own package and the bundles of others.
 */
const PACKAGES = [
  'core',
  'config',
  'policies',
  'policies-xml',
  'logger',
  'control-client',
  'control',
  'ui',
  'gateway',
  'cli',
]
/** Dependencies that are bundled too, because they consist of very many small modules. */
const INLINED = ['@sinclair/typebox', '@marcbachmann/cel-js']
/** Dependencies that are bundled into one package only, because `gw` needs them for every command or document. */
const INLINED_IN = {
  cli: ['commander', 'picocolors'],
  config: ['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse'],
}
const YAML_NAMES = Object.keys(yaml).filter((name) => name !== 'default')
/** Module that replaces `yaml` with the copy in `core`. A direct import of the CommonJS file would take 30 ms longer. */
const YAML_MODULE = `import { createRequire } from 'node:module'
export const { ${YAML_NAMES} } = createRequire(import.meta.url)('@sluice/core/yaml-library')`
/** Banner with `require`, which CommonJS modules in a bundle need to load Node.js modules. */
const REQUIRE =
  "import { createRequire as require_ } from 'node:module'; const require = require_(import.meta.url);"
/** Pages by the module that each of them loads: the dashboards of gateways and of the controller. */
const PAGES = { 'main.js': 'index.html', 'control.js': 'control.html' }
/** A file next to a module, such as the program of a thread or a process. */
const FILE_URL = /new URL\(\s*'(\.[^']+)',\s*import\.meta\.url,?\s*\)/g
/** Modules that turn functions into sandbox scripts. A bundle would rename these functions. */
const SCRIPTS = /\/sandbox\/(platform|runtime|transform)\.js$/

const root = join(import.meta.dirname, '..')
/** Files that also invalidate a bundle: this program and the list of installed packages. */
const SETTINGS = [import.meta.filename, join(root, 'node_modules/.package-lock.json')]
await Promise.all(PACKAGES.map((name) => bundlePackage(join(root, 'packages', name))))
await bundlePage(join(root, 'packages/ui'))
await describeCommands(join(root, 'packages/cli/dist'))

async function bundlePackage(folder) {
  const dist = join(folder, 'dist')
  const modules = modulesBelow(dist)
  const stamp = join(dist, '.bundled')
  if (newest([...modules, ...SETTINGS, join(folder, 'package.json')]) <= timeOf(stamp)) return
  const entries = [...exported(folder), ...modules.flatMap(programsOf)]
  const inlined = [...INLINED, ...(INLINED_IN[basename(folder)] ?? [])]
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
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    logLevel: 'warning',
    plugins: [{ name: 'packages', setup: (building) => setUp(building, dist, inlined) }],
    banner: inlined.length > INLINED.length ? { js: REQUIRE } : {},
  })
  if (basename(folder) === 'core') await bundleYamlLibrary(join(dist, 'bundle'))
  writeFileSync(stamp, '')
}

/** Bundles the YAML library as a CommonJS file, because `core` loads it on first use. */
async function bundleYamlLibrary(outdir) {
  await build({
    entryPoints: [fileURLToPath(import.meta.resolve('yaml'))],
    outfile: join(outdir, 'yaml-library.cjs'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
  })
}

/** Bundles the dashboards for browsers into `dist/web`. The names of its files contain a hash of their content. */
async function bundlePage(folder) {
  const [source, dist, web] = [join(folder, 'src/app'), join(folder, 'dist/app'), join(folder, 'dist/web')]
  const stamp = join(folder, 'dist/.page')
  const pageFiles = ['index.html', 'style.css', 'icon.svg'].map((name) => join(source, name))
  const core = join(root, 'packages/core/dist/.bundled')
  if (newest([...modulesBelow(dist), ...pageFiles, core, ...SETTINGS]) <= timeOf(stamp)) return
  rmSync(web, { recursive: true, force: true })
  mkdirSync(web, { recursive: true })
  const { metafile } = await build({
    entryPoints: [
      ...Object.keys(PAGES).map((module) => join(dist, module)),
      ...['style.css', 'icon.svg'].map((name) => join(source, name)),
    ],
    outdir: web,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    loader: { '.svg': 'copy' },
    logLevel: 'warning',
    metafile: true,
  })
  const built = Object.keys(metafile.outputs).map((path) => basename(path))
  const nameOf = (entry) => built.find((name) => name.replace(/-\w+(?=\.)/, '') === entry)
  const page = readFileSync(join(source, 'index.html'), 'utf8')
  for (const [module, file] of Object.entries(PAGES)) {
    const names = { ICON: nameOf('icon.svg'), STYLE: nameOf('style.css'), SCRIPT: nameOf(module) }
    writeFileSync(
      join(web, file),
      page.replace(/ICON|STYLE|SCRIPT/g, (name) => names[name]),
    )
  }
  writeFileSync(stamp, '')
}

/** Writes the manual pages of `gw`, including those of the benchmarks. */
async function describeCommands(dist) {
  const stamp = join(dist, '.described')
  const sources = [
    join(dist, '.bundled'),
    join(root, 'bench/dist/commands.js'),
    join(root, 'tools/man-pages.mjs'),
  ]
  if (newest(sources) <= timeOf(stamp)) return
  const { createProgram } = await import(join(dist, 'program.js'))
  const { SECTIONS } = await import(join(dist, 'program/help.js'))
  writeManPages(join(dist, 'man'), createProgram(), SECTIONS)
  writeFileSync(stamp, '')
}

function setUp(building, dist, inlined) {
  building.onResolve({ filter: /^yaml$/ }, ({ path }) => ({ path, namespace: 'library', sideEffects: false }))
  building.onLoad({ filter: /./, namespace: 'library' }, () => ({ contents: YAML_MODULE }))
  building.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || inlined.some((name) => path === name || path.startsWith(`${name}/`))
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

/** Returns the source of a module with file names as they are in `dist/bundle`. */
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

/** Returns `worker.main.js` for `dist/worker/main.js`. */
function flatName(dist, file) {
  return relative(dist, file).replaceAll('/', '.')
}

/** Returns the entry points of a package: its exports and the program of `bin/gw.mjs`. Type declarations stay next to the modules. */
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

/** Returns the modification time of a file, or 0 if it does not exist. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
