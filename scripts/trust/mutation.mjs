export const mutation = { id: 'mutation', property: 'mutation', async run() { return { notRun: 'x' } } }
