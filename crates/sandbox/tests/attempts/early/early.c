/* A library that writes outside of the workspace as soon as a program loads it. */
#include <fcntl.h>

__attribute__((constructor)) static void first(void)
{
	open("/mnt/outside/new", O_WRONLY | O_CREAT, 0644);
}
