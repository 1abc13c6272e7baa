import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const MOUNT = '/sys/fs/cgroup'
const EMPTY_MS = 30_000

/** A control group for the pods of one cluster: one folder, or one per controller with version 1. */
export class ControlGroup {
  #name

  constructor(name) {
    this.#name = name
  }

  /** Path of the group in the kubelet's notation. */
  get path() {
    return `/${this.#name}`
  }

  create() {
    for (const folder of this.#folders()) mkdirSync(folder, { recursive: true })
  }

  /** Removes the group once it has no processes. */
  async remove() {
    const endMono = performance.now() + EMPTY_MS
    for (const folder of this.#folders()) {
      while (!isRemoved(folder)) {
        if (performance.now() > endMono) throw new Error(`processes are left in ${folder}`)
        await sleep(50)
      }
    }
  }

  #folders() {
    const isUnified = existsSync(join(MOUNT, 'cgroup.controllers'))
    const controllers = isUnified ? ['.'] : readdirSync(MOUNT)
    return controllers.map((controller) => join(MOUNT, controller, this.#name))
  }
}

function isRemoved(folder) {
  if (!existsSync(folder)) return true
  const below = readdirSync(folder, { withFileTypes: true, recursive: true })
  const folders = below.filter((entry) => entry.isDirectory())
  // The deepest first.
  const paths = folders
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .reverse()
  try {
    for (const path of [...paths, folder]) rmdirSync(path)
    return true
  } catch (error) {
    if (error.code === 'EBUSY') return false
    throw error
  }
}
