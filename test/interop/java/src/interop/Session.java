package interop;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.a2aproject.sdk.A2A;
import org.a2aproject.sdk.client.Client;
import org.a2aproject.sdk.client.ClientBuilder;
import org.a2aproject.sdk.client.ClientEvent;
import org.a2aproject.sdk.client.TaskEvent;
import org.a2aproject.sdk.client.TaskUpdateEvent;
import org.a2aproject.sdk.client.config.ClientConfig;
import org.a2aproject.sdk.client.transport.grpc.GrpcTransport;
import org.a2aproject.sdk.client.transport.grpc.GrpcTransportConfigBuilder;
import org.a2aproject.sdk.client.transport.jsonrpc.JSONRPCTransport;
import org.a2aproject.sdk.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import org.a2aproject.sdk.client.transport.rest.RestTransport;
import org.a2aproject.sdk.client.transport.rest.RestTransportConfigBuilder;
import org.a2aproject.sdk.client.transport.spi.interceptors.ClientCallContext;
import org.a2aproject.sdk.client.transport.spi.interceptors.ClientCallInterceptor;
import org.a2aproject.sdk.client.transport.spi.interceptors.PayloadAndHeaders;
import org.a2aproject.sdk.jsonrpc.common.wrappers.ListTasksResult;
import org.a2aproject.sdk.spec.AgentCard;
import org.a2aproject.sdk.spec.CancelTaskParams;
import org.a2aproject.sdk.spec.DataPart;
import org.a2aproject.sdk.spec.ListTasksParams;
import org.a2aproject.sdk.spec.Message;
import org.a2aproject.sdk.spec.MessageSendConfiguration;
import org.a2aproject.sdk.spec.MessageSendParams;
import org.a2aproject.sdk.spec.Part;
import org.a2aproject.sdk.spec.Task;
import org.a2aproject.sdk.spec.TaskArtifactUpdateEvent;
import org.a2aproject.sdk.spec.TaskIdParams;
import org.a2aproject.sdk.spec.TaskQueryParams;
import org.a2aproject.sdk.spec.TaskState;
import org.a2aproject.sdk.spec.TextPart;

/** The client, with and without streaming, and what the scenarios do with it. */
final class Session {
    private static final long PATIENCE_S = 30;
    private static final Object END = new Object();

    private final Main.Input input;
    private final DroppableHttp http = new DroppableHttp();
    private final DroppableGrpc grpc = new DroppableGrpc();
    private final Client single;
    private final Client streaming;

    Session(Main.Input input) throws Exception {
        this.input = input;
        AgentCard card = A2A.getAgentCard(input.cardBase());
        single = connect(card, false);
        streaming = connect(card, true);
    }

    private Client connect(AgentCard card, boolean streams) throws Exception {
        Credentials credentials = new Credentials(input.headersUrl());
        ClientBuilder client =
                Client.builder(card).clientConfig(ClientConfig.builder().setStreaming(streams).build());
        ClientBuilder withTransport = switch (input.binding()) {
            case "JSONRPC" -> client.withTransport(
                    JSONRPCTransport.class,
                    new JSONRPCTransportConfigBuilder().httpClient(http).addInterceptor(credentials));
            case "HTTP+JSON" -> client.withTransport(
                    RestTransport.class, new RestTransportConfigBuilder().httpClient(http).addInterceptor(credentials));
            default -> client.withTransport(
                    GrpcTransport.class,
                    new GrpcTransportConfigBuilder().channelFactory(grpc::channel).addInterceptor(credentials));
        };
        return withTransport.build();
    }

    /** Headers of one call, asked anew for each. */
    private static final class Credentials extends ClientCallInterceptor {
        private final HttpClient http = HttpClient.newHttpClient();
        private final HttpRequest ask;

        Credentials(String url) {
            ask = HttpRequest.newBuilder(URI.create(url)).build();
        }

        @Override
        public PayloadAndHeaders intercept(
                String method, Object payload, Map<String, String> headers, AgentCard card, ClientCallContext context) {
            try {
                String json = http.send(ask, BodyHandlers.ofString()).body();
                Map<String, String> all = new HashMap<>(headers);
                all.putAll(new Gson().fromJson(json, new TypeToken<Map<String, String>>() {}));
                return new PayloadAndHeaders(payload, all);
            } catch (Exception error) {
                throw new IllegalStateException("there are no headers for the call", error);
            }
        }
    }

    /** What a message says beside its text. Absent is null. */
    record Ask(Task task, String contextId, boolean now) {
        static final Ask PLAIN = new Ask(null, null, false);
        static final Ask NOW = new Ask(null, null, true);
    }

    private MessageSendParams params(String text, Ask ask) {
        List<Part<?>> parts = new ArrayList<>(List.of(new TextPart(text)));
        if (ask.task() == null && input.data() != null && input.data().isJsonObject()) {
            parts.add(DataPart.fromJson(input.data().toString()));
        }
        Message.Builder message = Message.builder().role(Message.Role.ROLE_USER).parts(parts);
        if (ask.task() != null) message.taskId(ask.task().id()).contextId(ask.task().contextId());
        if (ask.contextId() != null) message.contextId(ask.contextId());
        return MessageSendParams.builder()
                .message(message.build())
                .configuration(MessageSendConfiguration.builder().returnImmediately(ask.now()).build())
                .build();
    }

    Task send(String text, Ask ask) throws Exception {
        List<ClientEvent> answers = new ArrayList<>();
        single.sendMessage(params(text, ask), List.of((event, card) -> answers.add(event)), null, null);
        if (answers.size() == 1 && answers.get(0) instanceof TaskEvent event) return event.getTask();
        throw new AssertionError("the answer is no task: " + answers);
    }

    Task get(String id, Integer historyLength) throws Exception {
        return single.getTask(new TaskQueryParams(id, historyLength));
    }

    ListTasksResult list(ListTasksParams query) throws Exception {
        return single.listTasks(query);
    }

    Task cancel(String id) throws Exception {
        return single.cancelTask(new CancelTaskParams(id));
    }

    static boolean running(Task task) {
        TaskState state = task.status().state();
        return state == TaskState.TASK_STATE_SUBMITTED || state == TaskState.TASK_STATE_WORKING;
    }

    /** Polls until the task waits for somebody or is over. */
    Task settle(Task task) throws Exception {
        Task seen = task;
        for (int polls = 0; running(seen); polls++) {
            if (polls > 200) throw new AssertionError("still " + seen.status().state());
            Thread.sleep(25);
            seen = get(seen.id(), null);
        }
        return seen;
    }

    /** What a stream has told so far. `task` is the one that the client itself put together from the frames. */
    record Told(Task task, int chunks, int frames) {}

    interface Opening {
        void open(BlockingQueue<Object> events) throws Exception;
    }

    Opening stream(String text) {
        return events -> streaming.sendMessage(
                params(text, Ask.PLAIN), List.of((event, card) -> events.add(event)), error -> end(events, error), null);
    }

    Opening subscribe(String id) {
        return events -> streaming.subscribeToTask(
                new TaskIdParams(id), List.of((event, card) -> events.add(event)), error -> end(events, error), null);
    }

    private static void end(BlockingQueue<Object> events, Throwable error) {
        events.add(error == null ? END : error);
    }

    Told follow(Opening opening) throws Exception {
        return follow(opening, told -> false);
    }

    /** Reads to the end, or until `enough` says so; then the connection is dropped. */
    Told follow(Opening opening, Predicate<Told> enough) throws Exception {
        BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        opening.open(events);
        Told told = null;
        while (true) {
            Object event = events.poll(PATIENCE_S, TimeUnit.SECONDS);
            if (event == null) throw new AssertionError("nothing came for " + PATIENCE_S + " s");
            if (event instanceof Throwable error) throw new IllegalStateException("the stream broke", error);
            if (event == END) break;
            if (told == null) {
                if (!(event instanceof TaskEvent first)) throw new AssertionError("the first frame is " + event);
                told = new Told(first.getTask(), 0, 1);
            } else if (event instanceof TaskUpdateEvent update) {
                int chunk = update.getUpdateEvent() instanceof TaskArtifactUpdateEvent ? 1 : 0;
                told = new Told(update.getTask(), told.chunks() + chunk, told.frames() + 1);
            } else {
                throw new AssertionError("a frame in the middle is " + event);
            }
            if (enough.test(told)) {
                http.dropStream();
                grpc.dropStream();
                break;
            }
            // The client leaves by itself then and says nothing more.
            if (told.task().status().state().isFinal()) break;
        }
        if (told == null) throw new AssertionError("the stream was empty");
        return told;
    }
}
