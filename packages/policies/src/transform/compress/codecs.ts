import zlib from 'node:zlib'
import type { Coding } from './accept-encoding.js'

const { constants } = zlib

/** Trade-off between speed and size. */
export type Level = 'fast' | 'balanced' | 'small'

/** A zlib stream that can be flushed. */
export type CompressionStream = zlib.Gzip | zlib.BrotliCompress

/** Implementation of one content coding. */
export interface Codec {
  readonly coding: Coding
  /** Memory of one stream in bytes. Measured with Node.js 20: 276 KB for gzip, 688 KB for brotli. */
  readonly streamBytes: number
  /** zlib constant that flushes all pending output. */
  readonly flushKind: number
  compress(body: Uint8Array): Buffer
  open(): CompressionStream
}

const GZIP_LEVELS = { fast: 1, balanced: 5, small: 9 } as const
const BROTLI_LEVELS = { fast: 1, balanced: 4, small: 7 } as const
/** Window of 256 KB. The default window of 4 MB would need that much memory per stream. */
const BROTLI_WINDOW_BITS = 18
const KB = 1024

/** Returns the implementation of a coding at a level. */
export function codecOf(coding: Coding, level: Level): Codec {
  return coding === 'gzip' ? gzipOf(GZIP_LEVELS[level]) : brotliOf(BROTLI_LEVELS[level])
}

function gzipOf(level: number): Codec {
  return {
    ...{ coding: 'gzip', streamBytes: 288 * KB, flushKind: constants.Z_SYNC_FLUSH },
    compress: (body) => zlib.gzipSync(body, { level }),
    open: () => zlib.createGzip({ level }),
  }
}

function brotliOf(quality: number): Codec {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
  }
  return {
    ...{ coding: 'br', streamBytes: 704 * KB, flushKind: constants.BROTLI_OPERATION_FLUSH },
    compress: (body) =>
      zlib.brotliCompressSync(body, {
        params: { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
      }),
    open: () => zlib.createBrotliCompress({ params }),
  }
}
