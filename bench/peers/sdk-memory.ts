import { createServer } from 'node:http';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { listen } from './listen.ts';
import { card, echoExecutor } from './sdk-echo.ts';

/* The reference SDK's own server as its documentation shows it, tasks in memory. */

const app = express();
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), echoExecutor);
app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
listen(createServer(app));
