/** Module that a worker process of this gateway runs. */
export const workerEntry = new URL('./main.js', import.meta.url)
