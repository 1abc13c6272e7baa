import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleDependencies } from './bundled.mjs'
import { releaseManifest } from './manifest.mjs'
import { neededFiles, publicExports } from './needed-files.mjs'
import { npm, readJson } from './run.mjs'

const MODULE = /^(?:bin|dist)\/.*\.m?js$/
/** Matches the reference to a source map, which is not shipped. */
const MAP_NAME = /\n\/\/# sourceMappingURL=.*\s*$/
/** Version in the title of a manual page. */
const MAN_TITLE = /^(\.TH \S+ 1 .*"Sluice )[^"]+/
const SCRIPT_MODE = 0o755

/**
 * Packs the built packages of the workspace. The same commit creates identical files: npm sorts the files and sets
 * their times, and the manifests are derived from the lock file.
 * @param release `version`, `repository` (address or null), and `changelog`, the text that the package of `gw` ships
 * @param check called with the folder of each prepared package; returns its problems
 * @throws Error with the problems
 */
export async function packPackages(root, out, release, check = () => []) {
  const staging = mkdtempSync(join(tmpdir(), 'sluice-release-'))
  try {
    const packages = stagePackages(root, staging, release)
    const problems = []
    for (const { name, folder } of packages)
      for (const problem of await check(folder)) problems.push(`${name}: ${problem}`)
    if (problems.length > 0) throw new Error(problems.join('\n'))
    const folders = packages.map(({ folder }) => folder)
    npm(root, 'pack', '--silent', '--ignore-scripts', '--pack-destination', out, ...folders)
    return packages.map(({ name }) => name)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Prepares the folders that are packed. Returns the name and the folder of each package. */
export function stagePackages(root, staging, { version, repository, changelog }) {
  const packages = listedFiles(root)
  const names = new Set(packages.map(({ name }) => name))
  const { packages: lock } = readJson(join(root, 'package-lock.json'))
  const imported = packages.flatMap(({ folder, files }) => published(join(root, folder), files)).join('\n')
  return packages.map(({ name, folder, files }) => {
    const source = join(root, folder)
    const manifest = releaseManifest(
      readJson(join(source, 'package.json')),
      { version, repository, names },
      folder,
    )
    if (manifest.exports !== undefined) manifest.exports = publicExports(name, manifest.exports, imported)
    const target = join(staging, folder)
    for (const file of neededFiles(source, files, manifest))
      copyFile(join(source, file), join(target, file), version)
    for (const file of ['LICENSE', 'NOTICE']) cpSync(join(root, file), join(target, file))
    if (name === '@sluice/cli') writeFileSync(join(target, 'CHANGELOG.md'), changelog)
    const complete = bundleDependencies(root, target, manifest, lock)
    writeFileSync(join(target, 'package.json'), `${JSON.stringify(complete, null, 2)}\n`)
    return { name, folder: target }
  })
}

/** Returns name, folder and files of each package, as its `files` name them. */
function listedFiles(root) {
  const { workspaces } = readJson(join(root, 'package.json'))
  const answer = npm(root, 'pack', '--workspaces', '--dry-run', '--json', '--ignore-scripts')
  const files = new Map(Object.values(JSON.parse(answer)).map((packed) => [packed.name, packed.files]))
  return workspaces.map((folder) => {
    const { name } = readJson(join(root, folder, 'package.json'))
    return { name, folder, files: files.get(name).map(({ path }) => path) }
  })
}

/** Returns the text of the modules of a package, except its test modules. */
function published(folder, files) {
  return files
    .filter((file) => MODULE.test(file) && !/\btesting\b/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
}

function copyFile(from, to, version) {
  mkdirSync(dirname(to), { recursive: true })
  if (!/\.(?:m?js|d\.ts|1)$/.test(from)) return cpSync(from, to)
  const text = readFileSync(from, 'utf8')
  writeFileSync(to, text.replace(MAP_NAME, '\n').replace(MAN_TITLE, `$1${version}`))
  if (text.startsWith('#!')) chmodSync(to, SCRIPT_MODE)
}
