/** Error codes of `time-window`. */
export const TIME_WINDOW_ERRORS = {
  GW_TIME_RESTRICTED: {
    status: 403,
    title: 'Not allowed at this time',
    when: '`time-window` does not allow requests at this time.',
    remedy: 'Retry within the allowed times, or change `time-window`.',
  },
} as const
