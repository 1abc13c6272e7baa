import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * SHA-256 of the native files in uws-pack 20.0.8, by platform, CPU and Node ABI (115 is Node 20, 127 is Node 22). The
 * lock file authenticates the package at installation; this check authenticates the file before it is loaded.
 */
const KNOWN: Readonly<Record<string, string>> = {
  linux_x64_115: '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
  linux_x64_127: '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
  linux_arm64_115: 'c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769',
  linux_arm64_127: 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  linux_arm_115: 'b02d5bc5ab08f040b6b9b818c3eb92806611f77a4dc2439a8f14cac827d498be',
  linux_arm_127: '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
  darwin_x64_115: '1f2a5c73d9dc3066d39b675b73f2c50eddbc4f270d292a6126ddfe3757c54cf9',
  darwin_x64_127: 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
  darwin_arm64_115: '5d523bccbe80d3d8fa59422ff81801b8179212b9a8a5da28bff6926a95a65701',
  darwin_arm64_127: 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
  win32_x64_115: '58c8b8e47ae3dc6c382dbfc24656755106cbecce56add05ca2c32d5c39951ddd',
  win32_x64_127: '585d6ee2dbfc750b1d5a59e6ceaef8a977e90ef3e298a82821d58b41cd72a8c0',
}

/** Returns the name of the native build that this process would load. */
export function nativeBuild(): string {
  return `${process.platform}_${process.arch}_${process.versions.modules}`
}

/** Returns the path of that file. */
export function nativeFile(build: string): string {
  return fileURLToPath(new URL(`./bin/uws_${build}.node`, import.meta.resolve('uWebSockets.js')))
}

/** Size of a read in bytes. The whole file would stay in the memory of each process until a full garbage collection. */
const PIECE_BYTES = 64 * 1024

/**
 * Verifies a native file.
 * @param file path of the file.
 * @throws Error if the hash of the file is unknown, or if there is no build for this machine.
 */
export function verifyNativeFile(build: string, file: string): void {
  const known = KNOWN[build]
  if (known === undefined)
    throw new Error(
      `the listener has no native build for ${build}; use Node.js 20 or 22 on a supported platform`,
    )
  const found = digestOf(file)
  if (found === known) return
  throw new Error(
    `the listener's native file for ${build} has an unexpected SHA-256 (${found}); reinstall the packages`,
  )
}

/** Returns the SHA-256 of a file. */
function digestOf(file: string): string {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  const fd = openSync(file, 'r')
  try {
    for (let length = readSync(fd, piece); length > 0; length = readSync(fd, piece))
      hash.update(piece.subarray(0, length))
  } finally {
    closeSync(fd)
  }
  return hash.digest('hex')
}

// Runs before the module that loads the native file, because listener.ts imports this one first.
verifyNativeFile(nativeBuild(), nativeFile(nativeBuild()))
