package interop;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.a2aproject.sdk.client.http.A2AHttpClient;
import org.a2aproject.sdk.client.http.A2AHttpResponse;
import org.a2aproject.sdk.client.http.JdkA2AHttpClient;
import org.a2aproject.sdk.client.http.ServerSentEvent;

/**
 * The client's own HTTP client, and a handle on the last stream that it opened: the client has no call that leaves a
 * stream, it cancels this future itself when a task has ended.
 */
final class DroppableHttp implements A2AHttpClient {
    private final A2AHttpClient http = new JdkA2AHttpClient();
    private volatile CompletableFuture<Void> lastStream = CompletableFuture.completedFuture(null);

    void dropStream() {
        lastStream.cancel(true);
    }

    @Override
    public GetBuilder createGet() {
        return http.createGet();
    }

    @Override
    public DeleteBuilder createDelete() {
        return http.createDelete();
    }

    @Override
    public PostBuilder createPost() {
        return new Post(http.createPost());
    }

    private final class Post implements PostBuilder {
        private final PostBuilder post;

        Post(PostBuilder post) {
            this.post = post;
        }

        @Override
        public PostBuilder url(String url) {
            post.url(url);
            return this;
        }

        @Override
        public PostBuilder addHeaders(Map<String, String> headers) {
            post.addHeaders(headers);
            return this;
        }

        @Override
        public PostBuilder addHeader(String name, String value) {
            post.addHeader(name, value);
            return this;
        }

        @Override
        public PostBuilder body(String body) {
            post.body(body);
            return this;
        }

        @Override
        public A2AHttpResponse post() throws IOException, InterruptedException {
            return post.post();
        }

        @Override
        public CompletableFuture<Void> postAsyncSSE(
                Consumer<ServerSentEvent> messages, Consumer<Throwable> errors, Runnable complete)
                throws IOException, InterruptedException {
            lastStream = post.postAsyncSSE(messages, errors, complete);
            return lastStream;
        }
    }
}
