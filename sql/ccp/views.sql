-- needs: ccp/verdicts.sql, maps/drawn.sql
-- Whether a hex sees others in ccp, many at once: 16.1, 16.2, T88, T89.3, T89.4.
--
-- The rules are those of ccp.los, of which only is asked whether something blocks. Lines are dropped as soon as they are
-- blocked: by their ends, by whole hexes, by an edge of artwork that they touch, by artwork or ground that they are inside
-- of, by the slope that they leave the higher end over. What each hex is to sight and where artwork runs in it is kept
-- (maps/drawn.sql).
--
-- Exactness. All is whole numbers, in units of the 1/1024 grid from the viewer's dot. An edge meets a line where it has
-- its ends on either side of it; the point w·P = B·a − A·b, with a and b how far its ends A and B are off the line and
-- w = a − b, is in a hex by the three bands of that hex times |w|. So nothing is divided.
--
-- The fields of who looks are columns of a row here, not of an argument: those of an argument are looked up anew each time.
--
-- Where touching is not enough (ccp-34 b), where hills of the lower end's level are seen past (ccp-33 b), for who is
-- inside a cave and where a dot lies on the very outline of an area, ccp._verdicts is asked.

drop type if exists ccp.outlook cascade;
create type ccp.outlook as (
  position_id bigint,
  map_id bigint,
  q integer,
  r integer,
  level integer,
  height integer,
  aloft boolean,
  in_gully boolean,
  lower_bars boolean,
  obstacles text array,
  at_hand integer array
);

comment on type ccp.outlook is
'Who looks, and over what: the terrain that blocks sight, but for blazes.';
comment on column ccp.outlook.lower_bars is 'Obstacles from the lower end up bar a line (ccp-7)';
comment on column ccp.outlook.at_hand is
'What blocks sight and lies over the hex of who looks, and all artwork that only touches it: as a line leaves that hex, it is
inside of nothing else.';

create or replace function ccp._outlook(state positions.state)
returns ccp.outlook
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  eye ccp.outlook;
begin
  eye.position_id := state.position_id;
  eye.map_id := state.map_id;
  eye.lower_bars := state.readings ->> 'ccp-7' = 'b';
  eye.obstacles := array(
    select screen.terrain from ccp._screens() as screen where screen.hindrance is null and screen.terrain <> 'blaze'
  );
  return eye;
end
$$;

comment on function ccp._outlook(positions.state) is
'What is looked over, by whomever.';

create or replace function ccp._eye(over ccp.outlook, viewer ccp.line_end)
returns ccp.outlook
language plpgsql stable
as $$
begin
  over.q := viewer.q;
  over.r := viewer.r;
  over.level := viewer.level;
  over.height := viewer.height;
  over.aloft := viewer.aloft;
  over.in_gully := viewer.terrain = 'gully' and not viewer.aloft;
  over.at_hand := (
    select array(
      select area.n
      from unnest(hex.areas, hex.area_terrains) as area (n, terrain)
      where area.terrain = any(over.obstacles)
        or area.terrain = 'blaze'
    ) || array(
      select edge.n
      from public.drawn_edge as edge
      where edge.map_id = hex.map_id
        and edge.q = hex.q
        and edge.r = hex.r
        and not edge.crest
        and edge.n <> all(hex.areas)
    )
    from public.drawn_hex as hex
    where hex.map_id = over.map_id
      and hex.q = viewer.q
      and hex.r = viewer.r
  );
  return over;
end
$$;

comment on function ccp._eye(ccp.outlook, ccp.line_end) is
'What is looked over, by who looks.';

drop type if exists ccp.view cascade;
create type ccp.view as (
  i integer,
  q integer,
  r integer,
  high integer,
  low integer,
  floor integer,
  barrier integer,
  downward integer,
  dx bigint,
  dy bigint,
  most bigint
);

comment on type ccp.view is
'One of many lines from a hex: its number and far end, the heights of its ends, its course.';
comment on column ccp.view.floor is 'As of ccp.line, as is barrier';
comment on column ccp.view.downward is '1 where the far end is the lower one, -1 where it is the higher, else 0';
comment on column ccp.view.dx is 'Its course on the lattice';
comment on column ccp.view.most is 'It leaves the near hex at 1/most of its way, and enters the far one as much before its end';

drop type if exists ccp.view_cell cascade;
create type ccp.view_cell as (
  i integer,
  q integer,
  r integer,
  enter bigint,
  leave bigint,
  den bigint,
  dx bigint,
  dy bigint,
  high boolean,
  crest integer,
  screened boolean,
  burns boolean,
  near boolean,
  passed_over boolean
);

comment on type ccp.view_cell is
'A hex between the ends of one of many lines, in which no edge is met: the line may yet be inside of what is drawn there.';
comment on column ccp.view_cell.high is 'Its dot is as high as the floor';
comment on column ccp.view_cell.crest is 'The lowest of its crest lines from the floor up, where the ground turns on it';
comment on column ccp.view_cell.screened is 'Obstacles are drawn in it and block who is inside them; burns: blazes';
comment on column ccp.view_cell.near is 'The line comes into it out of the viewer''s hex';
comment on column ccp.view_cell.passed_over is 'The line may come into it inside of an Obstacle that was too low before';

create or replace function ccp._views(viewer ccp.outlook, qs integer[], rs integer[])
returns setof ccp.view
language sql stable parallel safe rows 200
as $$
  select
    target.i::integer,
    target.q,
    target.r,
    target.high,
    target.low,
    target.high + case when target.high = target.low then 1 else 0 end,
    case when target.low > 0 and target.lower_bars then target.low else target.high end,
    target.downward,
    3 * target.dq::bigint,
    2 * target.dr::bigint + target.dq,
    greatest(abs(2 * target.dq + target.dr), abs(target.dq + 2 * target.dr), abs(target.dq - target.dr))::bigint
  from (
    select
      wanted.*,
      wanted.q - eye.q as dq,
      wanted.r - eye.r as dr,
      greatest(eye.height, hex.level) as high,
      least(eye.height, hex.level) as low,
      sign(eye.height - hex.level)::integer as downward,
      eye.lower_bars
    from unnest(_views.qs, _views.rs) with ordinality as wanted (q, r, i)
    cross join (
      select
        viewer.map_id as map_id,
        viewer.q as q,
        viewer.r as r,
        viewer.height as height,
        viewer.level as level,
        viewer.in_gully as in_gully,
        viewer.lower_bars as lower_bars
      offset 0
    ) as eye
    inner join public.drawn_hex as hex
      on hex.map_id = eye.map_id and hex.q = wanted.q and hex.r = wanted.r
    where not (
        eye.in_gully
        and ccp._hides_in_gully(lattice.distance(eye.q, eye.r, wanted.q, wanted.r), eye.level, hex.level)
      )
      and not (
        hex.terrain = 'gully'
        and ccp._hides_in_gully(lattice.distance(eye.q, eye.r, wanted.q, wanted.r), hex.level, eye.height)
      )
    offset 0
  ) as target
$$;

comment on function ccp._views(ccp.outlook, integer[], integer[]) is
'The lines to some hexes that no gully at their ends shuts (T88).';

drop type if exists ccp.view_ground cascade;
create type ccp.view_ground as (
  q integer,
  r integer,
  level integer,
  bare boolean,
  ablaze boolean,
  fills boolean,
  whole boolean,
  screened boolean,
  burns boolean,
  crests integer array
);

comment on type ccp.view_ground is
'A hex as many lines meet it: its level, its crest lines, what fills it and what is drawn in it.';
comment on column ccp.view_ground.bare is 'Nothing of all that is there';
comment on column ccp.view_ground.ablaze is 'A blaze is there; burns: is drawn in it';
comment on column ccp.view_ground.fills is 'An Obstacle is all over it, undrawn; whole: drawn; screened: is drawn in a part of it';

create or replace function ccp._view_grounds(
  viewer ccp.outlook, from_q integer, to_q integer, from_r integer, to_r integer, from_s integer, to_s integer
)
returns setof ccp.view_ground
language sql stable rows 400
as $$
  with burning as materialized (
    select distinct marker.q, marker.r
    from public.marker
    where marker.position_id = viewer.position_id
      and marker.kind = 'blaze'
  )
  select
    spot.q,
    spot.r,
    spot.level,
    not (spot.ablaze or spot.fills or spot.screened or spot.burns or spot.crest_levels <> '{}'),
    spot.ablaze,
    spot.fills,
    spot.screened
    and spot.whole <> '{}'
    and exists (
      select
      from unnest(spot.areas, spot.area_terrains) as area (n, terrain)
      where area.n = any(spot.whole) and area.terrain = any(spot.obstacles)
    ),
    spot.screened,
    spot.burns,
    spot.crest_levels
  from (
    select
      hex.q,
      hex.r,
      hex.level::integer as level,
      hex.terrain = 'blaze' or burning.q is not null as ablaze,
      not hex.drawn and hex.terrain = any(eye.obstacles) as fills,
      hex.area_terrains && eye.obstacles as screened,
      'blaze' = any(hex.area_terrains) as burns,
      hex.whole,
      hex.areas,
      hex.area_terrains,
      eye.obstacles,
      hex.crest_levels
    from public.drawn_hex as hex
    cross join (select viewer.obstacles as obstacles offset 0) as eye
    left join burning on burning.q = hex.q and burning.r = hex.r
    where hex.map_id = viewer.map_id
      and hex.q between from_q and to_q
      and hex.r between from_r and to_r
      and hex.q + hex.r between from_s and to_s
    offset 0
  ) as spot
$$;

comment on function ccp._view_grounds(ccp.outlook, integer, integer, integer, integer, integer, integer) is
'The hexes of a part of a map, as many lines meet them: from and to along its three axes, s is q + r.';

create or replace function ccp._view_trace(dq integer, dr integer)
returns table (kind text, q integer, r integer, enter bigint, leave bigint, den bigint)
language sql stable parallel safe rows 10
as $$
  select trace.kind, trace.q1, trace.r1, trace.enter, trace.leave, trace.den
  from lattice.trace
  where trace.dq = _view_trace.dq
    and trace.dr = _view_trace.dr
    and trace.kind in ('hex', 'spine', 'touch')
  union all
  select trace.kind, trace.q2, trace.r2, trace.enter, trace.leave, trace.den
  from lattice.trace
  -- sides are run along in six directions only
  where 0 in (_view_trace.dq - _view_trace.dr, 2 * _view_trace.dq + _view_trace.dr, _view_trace.dq + 2 * _view_trace.dr)
    and trace.dq = _view_trace.dq
    and trace.dr = _view_trace.dr
    and trace.kind = 'spine'
  union all
  select far.kind, far.q, far.r, far.enter, far.leave, far.den
  from lattice._reckoned_hexes(_view_trace.dq, _view_trace.dr) as far
  where lattice.distance(0, 0, _view_trace.dq, _view_trace.dr) > 24
$$;

comment on function ccp._view_trace(integer, integer) is
'The hexes that a line passes, meets in a corner or runs along between its ends, from its start; in no order.';

create or replace function ccp._view_pieces(viewer ccp.outlook, lines ccp.view[])
returns table (
  i integer, q integer, r integer, kind text, enter bigint, leave bigint, den bigint, near boolean, far boolean,
  downward integer, dx bigint, dy bigint, low integer, floor integer, barrier integer
)
language sql stable parallel safe rows 3000
as $$
  select
    line.i,
    eye.q + trace.q,
    eye.r + trace.r,
    trace.kind,
    trace.enter,
    trace.leave,
    trace.den,
    trace.enter * line.most = trace.den and trace.kind <> 'touch',
    (trace.den - trace.leave) * line.most = trace.den and trace.kind <> 'touch',
    line.downward,
    line.dx,
    line.dy,
    line.low,
    line.floor,
    line.barrier
  from unnest(lines) as line
  cross join (select viewer.q as q, viewer.r as r offset 0) as eye
  cross join lateral (
    select * from ccp._view_trace(line.q - eye.q, line.r - eye.r) offset 0
  ) as trace
$$;

comment on function ccp._view_pieces(ccp.outlook, ccp.view[]) is
'The hexes between the ends of many lines, of a spine both.';

create or replace function ccp._met_cells(
  viewer ccp.outlook,
  lines ccp.view[],
  from_q integer,
  to_q integer,
  from_r integer,
  to_r integer,
  from_s integer,
  to_s integer
)
returns table (
  i integer, q integer, r integer, shuts boolean, screened boolean, burns boolean, blocks boolean, touch boolean,
  off_map boolean, floor integer, dx bigint, dy bigint, near boolean, far boolean, enter bigint, leave bigint, den bigint,
  high boolean, crest integer
)
language sql stable rows 500
as $$
  select
    cell.i,
    cell.q,
    cell.r,
    case
      when cell.off_map then cell.kind = 'hex'
      else cell.ablaze
        or (cell.blocks and (cell.fills or (cell.whole and cell.kind = 'hex')))
        or (cell.high and (cell.crest is null or cell.crest > cell.floor))
    end,
    cell.screened and cell.blocks,
    cell.burns,
    cell.blocks,
    cell.kind = 'touch',
    cell.off_map,
    cell.floor,
    cell.dx,
    cell.dy,
    cell.near,
    cell.far,
    cell.enter,
    cell.leave,
    cell.den,
    cell.high,
    cell.crest
  from (
    select
      met.*,
      ground.ablaze,
      ground.fills,
      ground.whole,
      ground.screened,
      ground.burns,
      ground.level is null as off_map,
      ground.level >= met.floor as high,
      case
        when ground.crests <> '{}'
          then (select min(crest.level) from unnest(ground.crests) as crest (level) where crest.level >= met.floor)
      end as crest,
      coalesce(
        ground.level >= met.barrier
        -- T89.4.1: the blind hex behind an Obstacle beside the lower end
        or (ground.level >= met.low and case met.downward when 1 then met.far when -1 then met.near else false end),
        false
      ) as blocks
    from ccp._view_pieces(viewer, lines) as met
    left join ccp._view_grounds(viewer, from_q, to_q, from_r, to_r, from_s, to_s) as ground
      on ground.q = met.q and ground.r = met.r
    -- bare ground of the height of the ends says nothing
    where ground.bare is not true
      or ground.level < met.barrier
      or ground.level >= met.floor
    offset 0
  ) as cell
$$;

comment on function ccp._met_cells(
  ccp.outlook, ccp.view[], integer, integer, integer, integer, integer, integer
) is
'The hexes between the ends of many lines that say something: that shut them whole, in which what is drawn decides, over
which an Obstacle would not block, or that are off the map (16.1, 16.2, T89.3, T89.4).';

drop type if exists ccp.view_edge cascade;
create type ccp.view_edge as (
  q integer,
  r integer,
  crest boolean,
  n integer,
  level integer,
  part boolean,
  burns boolean,
  x1 bigint,
  y1 bigint,
  x2 bigint,
  y2 bigint
);

comment on type ccp.view_edge is
'An edge of artwork in a hex that many lines meet, in grid units from the viewer''s dot.';
comment on column ccp.view_edge.part is 'The artwork has a part in the hex, and more than its rim';

create or replace function ccp._screens_drawn(areas integer[], area_terrains text[], terrains text[])
returns table (obstacles integer[], blazes integer[])
language sql immutable parallel safe rows 1
as $$
  select
    array(select area.n from unnest(areas, area_terrains) as area (n, terrain) where area.terrain = any(terrains)),
    array(select area.n from unnest(areas, area_terrains) as area (n, terrain) where area.terrain = 'blaze')
  -- found once for each hex, not once for each use
  offset 0
$$;

comment on function ccp._screens_drawn(integer[], text[], text[]) is
'Of the areas of a hex those of Obstacles, whose terrains are given, and the blazes.';

create or replace function ccp._screen_edges(
  map_id bigint, q integer, r integer, obstacles integer[], blazes integer[], crests integer[]
)
returns table (crest boolean, n integer, level integer, part boolean, burns boolean, x1 integer, y1 integer, x2 integer, y2 integer)
language sql stable parallel safe rows 20
as $$
  select
    false,
    edge.n,
    null::integer,
    true,
    edge.n = any(_screen_edges.blazes),
    edge.x1,
    edge.y1,
    edge.x2,
    edge.y2
  -- of what blocks sight alone: most edges in a hex are of other artwork
  from unnest(_screen_edges.obstacles || _screen_edges.blazes) as artwork (n)
  cross join lateral (
    select *
    from public.drawn_edge as edge
    where edge.map_id = _screen_edges.map_id
      and edge.q = _screen_edges.q
      and edge.r = _screen_edges.r
      and not edge.crest
      and edge.n = artwork.n
    offset 0
  ) as edge
  union all
  select
    true,
    edge.n,
    edge.level,
    edge.n = any(_screen_edges.crests),
    false,
    edge.x1,
    edge.y1,
    edge.x2,
    edge.y2
  from public.drawn_edge as edge
  where _screen_edges.crests <> '{}'
    and edge.map_id = _screen_edges.map_id
    and edge.q = _screen_edges.q
    and edge.r = _screen_edges.r
    and edge.crest
$$;

comment on function ccp._screen_edges(bigint, integer, integer, integer[], integer[], integer[]) is
'The edges in a hex of Obstacles and blazes that are drawn there, and of crest lines where any has a part in it.';

create or replace function ccp._view_edges(viewer ccp.outlook, qs integer[], rs integer[])
returns setof ccp.view_edge
language sql stable rows 3000
as $$
  select
    edge.q,
    edge.r,
    edge.crest,
    edge.n,
    edge.level,
    edge.part,
    edge.burns,
    edge.x1 - edge.eye_x,
    edge.y1 - edge.eye_y,
    edge.x2 - edge.eye_x,
    edge.y2 - edge.eye_y
  from (
    select edge.*, eye.x as eye_x, eye.y as eye_y
    from (select distinct place.q, place.r from unnest(qs, rs) as place (q, r)) as place
    cross join (
      select
        viewer.map_id as map_id,
        viewer.obstacles as obstacles,
        3072 * viewer.q::bigint as x,
        1024 * (2 * viewer.r + viewer.q)::bigint as y
      offset 0
    ) as eye
    cross join lateral (
      select hex.q, hex.r, drawn.*
      from public.drawn_hex as hex
      cross join lateral ccp._screens_drawn(hex.areas, hex.area_terrains, eye.obstacles) as screen
      cross join lateral ccp._screen_edges(hex.map_id, hex.q, hex.r, screen.obstacles, screen.blazes, hex.crests) as drawn
      where hex.map_id = eye.map_id and hex.q = place.q and hex.r = place.r
      offset 0
    ) as edge
    offset 0
  ) as edge
$$;

comment on function ccp._view_edges(ccp.outlook, integer[], integer[]) is
'The edges of what blocks sight, and of crest lines, in some hexes.';

create or replace function ccp._in_hex(px bigint, py bigint, w bigint)
returns boolean
language sql immutable parallel safe
return abs(py) <= 1024 * w and abs(px + py) <= 2048 * w and abs(px - py) <= 2048 * w;

comment on function ccp._in_hex(bigint, bigint, bigint) is
'Whether a point (px, py)/w, in grid units from the dot of a hex, is in it, its rim included.';

create or replace function ccp._is_met(
  px bigint, py bigint, w bigint, x bigint, y bigint, dx bigint, dy bigint, touch boolean, near boolean, far boolean,
  x1 bigint, y1 bigint, x2 bigint, y2 bigint, enter bigint, leave bigint, den bigint
)
returns boolean
language sql immutable parallel safe
return case
  -- along the line: the marks are told in 1/(1024 den far) of it
  when w = 0
    then ccp._met_edges(
      case when touch then 'touch' else 'hex' end,
      not near,
      not far,
      1024::numeric * enter * (dx * dx + dy * dy),
      1024::numeric * leave * (dx * dx + dy * dy),
      den::numeric * least(dx * x1 + dy * y1, dx * x2 + dy * y2),
      den::numeric * greatest(dx * x1 + dy * y1, dx * x2 + dy * y2)
    )
  else ccp._in_hex(px - x * w, py - y * w, w)
    -- the sides of the end hexes belong to these (16.1)
    and not (near and ccp._in_hex(px, py, w))
    and not (far and ccp._in_hex(px - 1024 * dx * w, py - 1024 * dy * w, w))
end;

comment on function ccp._is_met(
  bigint, bigint, bigint, bigint, bigint, bigint, bigint, boolean, boolean, boolean,
  bigint, bigint, bigint, bigint, bigint, bigint, bigint
) is
'Whether a line meets, in a hex that it passes, an edge that has its ends (x1, y1) and (x2, y2) on either side of it. It crosses
the edge at (px, py)/w, and (x, y) is the dot of the hex; all in grid units from the dot that the line begins at.';

create or replace function ccp._plain_views(
  viewer ccp.outlook, lines ccp.view[], out shut integer[], out cells ccp.view_cell[]
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  from_q integer;
  to_q integer;
  from_r integer;
  to_r integer;
  from_s integer;
  to_s integer;
begin
  -- in arguments, a query would keep a function from being put into the one that asks it
  select
    least(viewer.q, min(line.q)),
    greatest(viewer.q, max(line.q)),
    least(viewer.r, min(line.r)),
    greatest(viewer.r, max(line.r)),
    least(viewer.q + viewer.r, min(line.q + line.r)),
    greatest(viewer.q + viewer.r, max(line.q + line.r))
  into from_q, to_q, from_r, to_r, from_s, to_s
  from unnest(lines) as line;
  with met as materialized (
    select * from ccp._met_cells(viewer, lines, from_q, to_q, from_r, to_r, from_s, to_s)
  ),
  shut_whole as materialized (
    select met.i from met where met.shuts
    union all
    -- a side along which there is no hex of the map
    select met.i from met where met.off_map and not met.shuts and not met.touch group by met.i, met.enter having count(*) = 2
  ),
  -- what every edge is compared with stands first: a row is read up to the last column that is asked
  cell as materialized (
    select met.*, 3072 * (met.q - eye.q) as x, 1024 * (2 * (met.r - eye.r) + met.q - eye.q) as y
    from met
    cross join (select viewer.q::bigint as q, viewer.r::bigint as r offset 0) as eye
    where (met.screened or met.burns or met.crest is not null)
      and met.i not in (select shut_whole.i from shut_whole)
  ),
  crossed as (
    select
      cell.*,
      edge.x1,
      edge.y1,
      edge.x2,
      edge.y2,
      cell.dx * edge.y1 - cell.dy * edge.x1 as off1,
      cell.dx * edge.y2 - cell.dy * edge.x2 as off2
    from (select array_agg(cell.q) as qs, array_agg(cell.r) as rs from cell) as drawn
    cross join lateral ccp._view_edges(viewer, drawn.qs, drawn.rs) as edge
    inner join cell
      on edge.q = cell.q
        and edge.r = cell.r
        -- its ends are on either side of the line
        and (cell.dx * edge.y1 - cell.dy * edge.x1) * (cell.dx * edge.y2 - cell.dy * edge.x2) <= 0
    where edge.part
      and case when edge.crest then edge.level >= cell.floor else edge.burns or cell.screened end
    offset 0
  ),
  touching as materialized (
    select at.i
    from (
      select
        crossed.*,
        case when crossed.off1 < crossed.off2 then -1 else 1 end * (crossed.x2 * crossed.off1 - crossed.x1 * crossed.off2) as px,
        case when crossed.off1 < crossed.off2 then -1 else 1 end * (crossed.y2 * crossed.off1 - crossed.y1 * crossed.off2) as py,
        abs(crossed.off1 - crossed.off2) as w
      from crossed
      offset 0
    ) as at
    where ccp._is_met(
      at.px, at.py, at.w, at.x, at.y, at.dx, at.dy, at.touch, at.near, at.far, at.x1, at.y1, at.x2, at.y2, at.enter, at.leave, at.den
    )
  )
  select
    array(
      select shut_whole.i from shut_whole
      union all
      select touching.i from touching
    ),
    array(
      select
        row(
          cell.i, cell.q, cell.r, cell.enter, cell.leave, cell.den, cell.dx, cell.dy, cell.high, cell.crest, cell.screened,
          cell.burns, cell.near, cell.passed_over
        )::ccp.view_cell
      from (
        select cell.*, cell.i in (select met.i from met where not met.blocks and not met.touch) as passed_over
        from cell
        where cell.i not in (select touching.i from touching)
        offset 0
      ) as cell
      where cell.near
        or cell.passed_over
        or cell.crest is not null
    )
  into shut, cells;
end
$$;

comment on function ccp._plain_views(ccp.outlook, ccp.view[]) is
'The lines that whole hexes shut or that touch an edge of what blocks them, and of the others the cells in which something
is drawn (16.1, T89.3).';

drop type if exists ccp.probe cascade;
create type ccp.probe as (
  i integer,
  k integer,
  q integer,
  r integer,
  x bigint,
  y bigint,
  px bigint,
  py bigint,
  w bigint,
  crest boolean,
  n integer,
  inside boolean
);

comment on type ccp.probe is
'A point (px, py)/w from the dot of a hex, of which is asked whether it is inside an area, or on ground of a level or above.';
comment on column ccp.probe.x is 'The dot, in grid units from the viewer''s';
comment on column ccp.probe.n is 'The area, or the level of the crest lines';
comment on column ccp.probe.inside is 'Whether the dot is';

create or replace function ccp._probed(viewer ccp.outlook, probes ccp.probe[])
returns table (i integer, k integer, inside boolean)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  board bigint := viewer.map_id;
  eye_x bigint := 3072 * viewer.q;
  eye_y bigint := 1024 * (2 * viewer.r + viewer.q);
begin
  return query
  select
    found.i,
    found.k,
    not found.on_it and found.inside <> found.odd
  from (
    select
      at.i,
      at.k,
      at.inside,
      coalesce(
        bool_or(
          at.beyond = 0
          and at.px between least(at.ux, at.vx) * at.w and greatest(at.ux, at.vx) * at.w
          and at.py between least(at.uy, at.vy) * at.w and greatest(at.uy, at.vy) * at.w
        ),
        false
      ) as on_it,
      count(*) filter (
        -- a vertex on the probe counts as on its left, so that a chain through it is counted once
        where (at.py * at.ux >= at.px * at.uy) <> (at.py * at.vx >= at.px * at.vy)
          and sign(at.beyond) * sign((at.vy - at.uy) * at.ux - (at.vx - at.ux) * at.uy) < 0
      ) % 2 = 1 as odd
    from (
      select
        point.*,
        (point.vx - point.ux) * (point.py - point.uy * point.w)
        - (point.vy - point.uy) * (point.px - point.ux * point.w) as beyond
      from (
        select
          probe.*,
          edge.x1 - probe.x as ux,
          edge.y1 - probe.y as uy,
          edge.x2 - probe.x as vx,
          edge.y2 - probe.y as vy
        from unnest(probes) as probe
        left join (
          select artwork.*, edge.x1 - eye_x as x1, edge.y1 - eye_y as y1, edge.x2 - eye_x as x2, edge.y2 - eye_y as y2
          from (select distinct probe.q, probe.r, probe.crest, probe.n from unnest(probes) as probe) as artwork
          cross join lateral (
            select *
            from public.drawn_edge as edge
            where edge.map_id = board
              and edge.q = artwork.q
              and edge.r = artwork.r
              and edge.crest = artwork.crest
              and artwork.n = case when edge.crest then edge.level else edge.n end
            offset 0
          ) as edge
        ) as edge
          on edge.q = probe.q
            and edge.r = probe.r
            and edge.crest = probe.crest
            and edge.n = probe.n
        -- once for each edge, not once for each use
        offset 0
      ) as point
      offset 0
    ) as at
    group by at.i, at.k, at.inside
  ) as found;
end
$$;

comment on function ccp._probed(ccp.outlook, ccp.probe[]) is
'Whether points are inside, by the edges between them and the dots of their hexes; on an edge they are not.';

create or replace function ccp._inner_views(
  viewer ccp.outlook, cells ccp.view_cell[], out shut integer[], out doubtful integer[]
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  probes ccp.probe[];
  at_hand integer[] := viewer.at_hand;
begin
  if cells = '{}' then
    shut := '{}';
    doubtful := '{}';
    return;
  end if;
  with cell as materialized (
    select
      cell.*,
      -- halfway through, where no edge is met
      1024 * cell.dx * (cell.enter + cell.leave) - 2 * cell.x * cell.den as px,
      1024 * cell.dy * (cell.enter + cell.leave) - 2 * cell.y * cell.den as py
    from (
      select
        cell.*,
        3072 * (cell.q - eye.q) as x,
        1024 * (2 * (cell.r - eye.r) + cell.q - eye.q) as y
      from unnest(cells) as cell
      cross join (select viewer.q::bigint as q, viewer.r::bigint as r offset 0) as eye
      offset 0
    ) as cell
  ),
  artwork as materialized (
    select
      hex.q,
      hex.r,
      area.n,
      area.terrain = 'blaze' as burns,
      area.n = any(at_hand) as at_hand,
      area.n = any(hex.within) as inside,
      area.n = any(hex.brink) as doubtful
    from (
      select distinct cell.q, cell.r from cell where (cell.near or cell.passed_over) and (cell.screened or cell.burns)
    ) as place
    inner join public.drawn_hex as hex on hex.map_id = viewer.map_id and hex.q = place.q and hex.r = place.r
    cross join lateral unnest(hex.areas, hex.area_terrains) as area (n, terrain)
    where area.terrain = any(viewer.obstacles)
      or area.terrain = 'blaze'
  ),
  asked as materialized (
    select cell.*, artwork.n, artwork.inside, artwork.doubtful
    from cell
    inner join artwork
      on artwork.q = cell.q and artwork.r = cell.r and (artwork.burns or cell.screened)
    where cell.passed_over
      or (cell.near and artwork.at_hand)
  )
  select
    array(
      select
        row(
          probe.i, row_number() over (), probe.q, probe.r, probe.x, probe.y, probe.px, probe.py, 2 * probe.den, probe.crest,
          probe.n, probe.inside
        )::ccp.probe
      from (
        select asked.i, asked.q, asked.r, asked.x, asked.y, asked.px, asked.py, asked.den, false as crest, asked.n, asked.inside
        from asked
        where not asked.doubtful
        union all
        -- T89.3: ground between crest lines
        select cell.i, cell.q, cell.r, cell.x, cell.y, cell.px, cell.py, cell.den, true, cell.crest, cell.high
        from cell
        where cell.crest is not null
      ) as probe
    ),
    array(select distinct asked.i from asked where asked.doubtful)
  into probes, doubtful;
  shut := array(select distinct probed.i from ccp._probed(viewer, probes) as probed where probed.inside);
end
$$;

comment on function ccp._inner_views(ccp.outlook, ccp.view_cell[]) is
'Of lines that touch no edge, those that are inside what blocks them, and those that cannot be told here (16.1, T89.3).';

create or replace function ccp._uphill_views(viewer ccp.outlook, lines ccp.view[])
returns integer[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  sloping ccp.view[] := array(
    select line
    from unnest(lines) as line
    where line.downward = -1
      or (line.downward = 1 and not viewer.aloft)
  );
  found record;
begin
  if cardinality(sloping) = 0 then
    return '{}';
  end if;
  return (
    with place as materialized (
      select line.i, 1 as k, case line.downward when 1 then viewer.q else line.q end as q,
        case line.downward when 1 then viewer.r else line.r end as r
      from unnest(sloping) as line
      union all
      select piece.i, (1 + row_number() over (partition by piece.i))::integer, piece.q, piece.r
      from ccp._view_pieces(viewer, sloping) as piece
      where piece.kind <> 'touch'
        and case piece.downward when 1 then piece.near else piece.far end
      union all
      select line.i, 2, case line.downward when 1 then line.q else viewer.q end,
        case line.downward when 1 then line.r else viewer.r end
      from unnest(sloping) as line
      where line.most = 2
        and lattice.distance(viewer.q, viewer.r, line.q, line.r) = 1
    ),
    ground as materialized (
      select
        place.*,
        line.dx,
        line.dy,
        line.most,
        hex.level >= line.high as high,
        -- a higher line within ground that is high enough already does not matter
        case
          when hex.crest_levels <> '{}'
            then (
              select nullif(min(crest.level), case when hex.level >= line.high then nullif(min(crest.level), line.high) end)
              from unnest(hex.crest_levels) as crest (level)
              where crest.level >= line.high
            )
        end as crest,
        3072 * (place.q - viewer.q)::bigint as x,
        1024 * (2 * (place.r - viewer.r) + place.q - viewer.q)::bigint as y,
        1024 * case line.downward when 1 then 1 else line.most - 1 end as t
      from place
      inner join unnest(sloping) as line on line.i = place.i
      inner join public.drawn_hex as hex on hex.map_id = viewer.map_id and hex.q = place.q and hex.r = place.r
    ),
    probed as materialized (
      select probed.*
      from (
        select
          array_agg(
            row(
              ground.i, ground.k, ground.q, ground.r, ground.x, ground.y,
              ground.dx * ground.t - ground.x * ground.most,
              ground.dy * ground.t - ground.y * ground.most,
              ground.most, true, ground.crest, ground.high
            )::ccp.probe
          ) as probes
        from ground
        where ground.crest is not null
      ) as every
      cross join lateral ccp._probed(viewer, every.probes) as probed
    )
    select coalesce(array_agg(slope.i), '{}')
    from (
      select
        ground.i,
        bool_or(coalesce(probed.inside, ground.high)) filter (where ground.k = 1)
        -- and no lower beyond
        and coalesce(bool_or(coalesce(probed.inside, ground.high)) filter (where ground.k > 1), true) as shut
      from ground
      left join probed on probed.i = ground.i and probed.k = ground.k
      group by ground.i
    ) as slope
    where slope.shut
  );
end
$$;

comment on function ccp._uphill_views(ccp.outlook, ccp.view[]) is
'The lines that are still on the hill of their higher end when they leave its hex (T89.3.2).';

create or replace function ccp._doubtful_views(sighting ccp.sighting, doubtful integer[])
returns integer[]
language plpgsql stable
as $$
declare
  fewer ccp.sighting := sighting;
begin
  if cardinality(doubtful) = 0 then
    return '{}';
  end if;
  doubtful := array(select distinct unnest(doubtful));
  fewer.qs := array(select sighting.qs[line.i] from unnest(doubtful) with ordinality as line (i, n) order by line.n);
  fewer.rs := array(select sighting.rs[line.i] from unnest(doubtful) with ordinality as line (i, n) order by line.n);
  return array(select doubtful[verdict.i] from ccp._verdicts(fewer) as verdict where verdict.visible);
end
$$;

comment on function ccp._doubtful_views(ccp.sighting, integer[]) is
'Which of some lines of a sighting are open, by ccp._verdicts.';

create or replace function ccp._sees_plainly(state positions.state, viewer ccp.line_end)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return state.readings ->> 'ccp-34' = 'a' and state.readings ->> 'ccp-33' = 'a' and not viewer.in_cave;
end
$$;

comment on function ccp._sees_plainly(positions.state, ccp.line_end) is
'Whether all lines of a viewer are judged here: touching is enough (ccp-34), hills of the lower end''s level are not seen past
(ccp-33), and it is not inside a cave.';

create or replace function ccp._seen(sighting ccp.sighting, over ccp.outlook default null)
returns integer[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  state positions.state := sighting.state;
  viewer ccp.line_end;
  eye ccp.outlook;
  lines ccp.view[];
  plain record;
  shut integer[];
  inner_lines record;
  doubtful integer[] := '{}';
begin
  select * into viewer from ccp._line_end(state, sighting.q, sighting.r, sighting.unit);
  if state.readings ->> 'ccp-34' <> 'a' or viewer.in_cave or sighting.target is not null then
    return array(select verdict.i from ccp._verdicts(sighting) as verdict where verdict.visible);
  end if;
  if over.map_id is null then
    over := ccp._outlook(state);
  end if;
  eye := ccp._eye(over, viewer);
  lines := array(select line from ccp._views(eye, sighting.qs, sighting.rs) as line);
  if state.readings ->> 'ccp-33' = 'b' then
    doubtful := array(select line.i from unnest(lines) as line where line.high > line.low and line.low > 0);
    lines := array(select line from unnest(lines) as line where not (line.high > line.low and line.low > 0));
  end if;
  plain := ccp._plain_views(eye, lines);
  inner_lines := ccp._inner_views(eye, plain.cells);
  doubtful := doubtful || inner_lines.doubtful;
  lines := array(
    select line
    from unnest(lines) as line
    left join unnest(plain.shut || inner_lines.shut || doubtful) as gone (i) on gone.i = line.i
    where gone.i is null
  );
  shut := ccp._uphill_views(eye, lines);
  return array(select line.i from unnest(lines) as line where line.i <> all(shut))
    || ccp._doubtful_views(sighting, doubtful);
end
$$;

comment on function ccp._seen(ccp.sighting, ccp.outlook) is
'Which of the lines of a sighting are open, by their numbers; the verdicts are those of ccp.los. Over: what is looked over,
where who asks for several viewers knows it already.';
