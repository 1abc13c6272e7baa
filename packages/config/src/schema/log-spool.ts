import { Type } from '@sinclair/typebox'
import { filePath, object, oneOf, size } from './build.js'

/** Schema of the on-disk queue of a log target. */
export const spool = object(
  {
    dir: Type.Optional(
      filePath(
        'Spool folder. Absent: data/spool, or data/spool-ID for an entry of log.outputs, in the working directory.',
      ),
    ),
    maxBytes: size('8mb', '100000gb', {
      default: '2gb',
      description: 'Maximum size of the spool, for all workers together.',
    }),
    minFreeBytes: size('0b', '100000gb', {
      default: '50mb',
      description: 'Minimum free disk space. With less, records are queued in memory, as on a full disk.',
    }),
    whenFull: oneOf(['drop-oldest', 'drop-newest'], {
      default: 'drop-oldest',
      description: 'Records that are dropped when `maxBytes` is reached. Dropped records are counted.',
    }),
  },
  {
    default: {},
    deprecatedKeys: { keepFree: 'minFreeBytes' },
    description: 'On-disk queue of records that have not been delivered.',
  },
)
