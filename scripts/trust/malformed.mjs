export const malformed = { id: 'malformed', property: 'malformed', async run() { return { notRun: 'x' } } }
