/* Ways by io_uring, whose requests no filter of system calls sees. */
#include "attacker.h"
#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

struct ring {
	int fd;
	unsigned char *submissions, *completions;
	struct io_uring_sqe *entries;
	struct io_uring_params parameters;
};

static void open_ring(struct ring *ring)
{
	struct io_uring_params *parameters = &ring->parameters;

	memset(ring, 0, sizeof *ring);
	ring->fd = must("io_uring_setup", syscall(SYS_io_uring_setup, 4, parameters));
	ring->submissions = mmap(0, parameters->sq_off.array + parameters->sq_entries * 4, PROT_READ | PROT_WRITE,
				 MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->completions = mmap(0, parameters->cq_off.cqes + parameters->cq_entries * sizeof(struct io_uring_cqe),
				 PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
	ring->entries = mmap(0, parameters->sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED,
			     ring->fd, IORING_OFF_SQES);
}

/* One request, and its result. */
static long ask(struct ring *ring, const char *what, struct io_uring_sqe request)
{
	struct io_uring_params *parameters = &ring->parameters;
	unsigned *tail = (unsigned *)(ring->submissions + parameters->sq_off.tail);
	unsigned *head = (unsigned *)(ring->completions + parameters->cq_off.head);
	unsigned mask = *(unsigned *)(ring->submissions + parameters->sq_off.ring_mask);
	unsigned results_mask = *(unsigned *)(ring->completions + parameters->cq_off.ring_mask);

	ring->entries[*tail & mask] = request;
	((unsigned *)(ring->submissions + parameters->sq_off.array))[*tail & mask] = *tail & mask;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	must("io_uring_enter", syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0));
	struct io_uring_cqe *results = (struct io_uring_cqe *)(ring->completions + parameters->cq_off.cqes);
	long result = results[*head & results_mask].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	if (result < 0) {
		errno = -result;
		result = -1;
	}
	return must(what, result);
}

/* ring-tcp PORT */
static int by_ring_tcp(char **word)
{
	struct ring ring;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(word[0])) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	open_ring(&ring);
	long fd = ask(&ring, "IORING_OP_SOCKET",
		      (struct io_uring_sqe){ .opcode = 45, .fd = AF_INET, .off = SOCK_STREAM });
	ask(&ring, "IORING_OP_CONNECT",
	    (struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .fd = fd, .addr = (uint64_t)&address, .off = sizeof address });
	return ask(&ring, "IORING_OP_SEND",
		   (struct io_uring_sqe){ .opcode = IORING_OP_SEND, .fd = fd, .addr = (uint64_t) "reached", .len = 7 }) != 7;
}

/* ring-append FILE */
static int by_ring_append(char **word)
{
	struct ring ring;

	open_ring(&ring);
	long fd = ask(&ring, "IORING_OP_OPENAT",
		      (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uint64_t)word[0],
					     .open_flags = O_WRONLY | O_APPEND });
	return write(fd, "changed\n", 8) != 8;
}

/* ring-attribute FILE: metadata, which Landlock does not look at. */
static int by_ring_attribute(char **word)
{
	struct ring ring;

	open_ring(&ring);
	return ask(&ring, "IORING_OP_SETXATTR",
		   (struct io_uring_sqe){ .opcode = 42, .addr = (uint64_t) "user.attempt", .off = (uint64_t) "changed",
					  .len = 7, .addr3 = (uint64_t)word[0] }) != 0;
}

const struct way rings[] = {
	{ "ring-tcp", 1, by_ring_tcp },
	{ "ring-append", 1, by_ring_append },
	{ "ring-attribute", 1, by_ring_attribute },
	{ 0 },
};
