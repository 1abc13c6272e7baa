import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const TEST = '.test.js'
/** Their tests mostly compute; those of the other packages wait for the processes that they start. */
const COMPUTING = ['config', 'core', 'policies']

/** The test files below these folders of packages/, bench/ and tools/; all of them when no folder is named. */
export function testFiles(folders) {
  const packages = readdirSync('packages')
  const waiting = packages.filter((name) => !COMPUTING.includes(name))
  // Those that take longest begin first, so that none of them is left over at the end; those that compute have the cores
  // while they wait.
  const all = mixed(
    [...compiledTests('bench'), ...toolTests(), ...compiledPackageTests(waiting)],
    compiledPackageTests(COMPUTING),
  )
  if (folders.length === 0) return all
  return all.filter((file) => folders.some((folder) => isWithin(file, folder)))
}

/** Both lists in their order, each spread over the whole. */
function mixed(some, others) {
  const placed = [some, others].flatMap((list) =>
    list.map((file, i) => ({ file, place: (i + 0.5) / list.length })),
  )
  return placed.sort((a, b) => a.place - b.place).map(({ file }) => file)
}

function toolTests() {
  return filesBelow('tools').filter((file) => file.endsWith('.test.mjs') && !file.includes('node_modules'))
}

function compiledPackageTests(names) {
  return names.flatMap((name) => compiledTests(join('packages', name)))
}
function compiledTests(folder) {
  return filesBelow(join(folder, 'dist')).filter((file) => file.endsWith(TEST) && existsSync(sourceOf(file)))
}

/** The compiler leaves the output of a deleted source behind; such a test must not run. */
function sourceOf(file) {
  return file.replace(/(^|\/)dist\//, '$1src/').replace(/\.js$/, '.ts')
}

function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** A folder or file may be named by its source, its output or its package. */
function isWithin(file, folder) {
  const wanted = folder.replace(/\/+$/, '')
  return [file, sourceOf(file)].some((path) => path === wanted || path.startsWith(`${wanted}/`))
}
